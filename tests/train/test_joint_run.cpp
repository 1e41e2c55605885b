#include "tapehead/train/joint_run.h"

#include <limits>

#include "support/ranks.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Trainer trained_alone(const Config& config, Index steps) {
  Trainer trainer(config, 1);
  while (trainer.step() < steps) trainer.advance();
  return trainer;
}

/// What all ranks complain of alike; "they differ" where they do not.
std::string common_complaint(const std::vector<std::string>& complaints) {
  for (const std::string& complaint : complaints)
    if (complaint != complaints.front()) return "they differ";
  return complaints.front();
}

std::string complaint_at_start(const std::function<void(Config&, int rank)>& change) {
  return common_complaint(on_ranks(3, [&](Ranks& ranks) {
    Config config = tiny_config();
    change(config, ranks.rank());
    Trainer trainer(config, {1, ranks});
    start_together(trainer);
  }));
}

}  // namespace

TEST_CASE("a trainer on any number of ranks comes to the bits of one alone, and tells of the same steps") {
  const Config config = tiny_config();
  for (const int count : {2, 3, 4, 5}) {
    CAPTURE(count);
    Trainer alone(config, 1);
    std::vector<Trainer::StepReport> expected;
    for (int step = 0; step < 4; ++step) expected.push_back(alone.advance());
    check_on_ranks(count, [&](Ranks& ranks) {
      Trainer trainer(config, {1, ranks});
      start_together(trainer);
      for (const Trainer::StepReport& there : expected) {
        const Trainer::StepReport here = trainer.advance();
        CHECK(here.loss == there.loss);
        CHECK(here.gradient_norm == there.gradient_norm);
        CHECK(here.learning_rate == there.learning_rate);
        CHECK(here.operations == there.operations);
      }
      CHECK(same_bits(trainer, alone));
    });
  }
}

TEST_CASE("ranks that start together go on from where rank 0 stands, which alone needs the state") {
  const Trainer resumed = trained_alone(tiny_config(), 5);
  check_on_ranks(3, [&](Ranks& ranks) {
    Trainer trainer(tiny_config(), {1, ranks});
    if (ranks.leads()) trainer.restore(snapshot_of(resumed.model(), resumed.optimizer(), resumed.step()));
    start_together(trainer);
    CHECK(same_bits(trainer, resumed));
    trainer.advance();
    CHECK(same_bits(trainer, trained_alone(tiny_config(), 6)));
  });
}

TEST_CASE("a rank with another config is refused by all, with the first field that differs") {
  const std::string complaint = complaint_at_start([](Config& config, int rank) {
    if (rank == 2) config.train.batch = 9;
  });
  CHECK(complaint ==
        "[ranks] rank 2 on here has another config: train.batch is 9 there and 7 on rank 0; give every rank "
        "the same program, config and data");
  CHECK(complaint_at_start([](Config&, int) {}).empty());
}

TEST_CASE("the other ranks can take their config from rank 0") {
  check_on_ranks(3, [](Ranks& ranks) {
    Config own;
    if (ranks.leads()) own = tiny_config();
    CHECK(config_of_rank_0(own, ranks) == tiny_config());
  });
}

TEST_CASE("ranks without a shard are a warning, and train the same model") {
  check_on_ranks(6, [](Ranks& ranks) {
    Trainer trainer(tiny_config(), {1, ranks});
    CHECK(start_together(trainer) ==
          "2 of 6 ranks have nothing to train: a batch of 7 has 4 shards of 2 (train.shard)");
    trainer.advance();
    CHECK(same_bits(trainer, trained_alone(tiny_config(), 1)));
  });
  check_on_ranks(4, [](Ranks& ranks) {
    Trainer trainer(tiny_config(), {1, ranks});
    CHECK(start_together(trainer).empty());
  });
}

TEST_CASE("followers go to the last step, or stop with all others after the same one") {
  const Index last = tiny_config().train.steps;
  check_on_ranks(3, [&](Ranks& ranks) {
    Trainer trainer(tiny_config(), {1, ranks});
    CHECK(follow_run(trainer, {}, {}));
    CHECK(trainer.step() == last);
  });
  check_on_ranks(3, [&](Ranks& ranks) {
    Trainer trainer(tiny_config(), {1, ranks});
    // The last rank alone wishes it, after its second step.
    CHECK(!follow_run(trainer, {}, [&] { return ranks.rank() == 2 && trainer.step() == 2; }));
    CHECK(trainer.step() == 2);
  });
}

TEST_CASE("a loss that is not finite ends all ranks in the same words, whoever owns the shard") {
  Config config = tiny_config();
  config.train.learning_rate = 1e30;
  config.train.clip = 0;
  Trainer alone(config, 1);
  const std::string expected = failure_of([&] {
    while (alone.step() < 10) alone.advance();
  });
  CHECK(expected.starts_with("[train] the loss is not finite at step "));
  const std::vector<std::string> complaints = on_ranks(3, [&](Ranks& ranks) {
    Trainer trainer(config, {1, ranks});
    while (trainer.step() < 10) trainer.advance();
  });
  CHECK(common_complaint(complaints) == expected);
}
