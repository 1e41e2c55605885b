#include "tapehead/train/estimate.h"

#include <algorithm>
#include <string>
#include <vector>

#include "support/models.h"
#include "support/ranks.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/tensor/memory.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

using testing::tiny_config;

/// What a step was seen to take, once the optimizer has its averages.
struct Measured {
  Index parameters;
  Index operations;
  Index peak;
};

Measured measured_step(const Config& config, int threads) {
  const Index before = memory_use().now;
  Trainer trainer(config, threads);
  trainer.advance();
  reset_peak_memory();
  const Index operations = trainer.advance().operations;
  return {trainer.model().parameters().count(), operations, memory_use().peak - before};
}

Config of_model(const ModelConfig& model) {
  Config config = tiny_config();
  config.model = model;
  return config;
}

/// Eight shards of a model whose count of parameters four can share evenly, and machines with round rates.
Config even_config() {
  Config config = tiny_config();
  config.model.dropout = 0;
  config.train.batch = 16;
  return config;
}
constexpr Machines kRound{.ranks = 1,
                          .threads = 1,
                          .operations_per_second = 1000,
                          .memory_bytes_per_second = 100,
                          .network_bytes_per_second = 10,
                          .seconds_per_message = 0.5};
constexpr auto kNumber = static_cast<double>(sizeof(Real));

Machines with_ranks(Index ranks, int threads = 1) {
  Machines machines = kRound;
  machines.ranks = ranks;
  machines.threads = threads;
  return machines;
}

/// Bytes of gradients that each of several ranks, threads of this process, was seen to send in a step.
std::vector<Index> bytes_sent(const Config& config, int count) {
  std::vector<Index> sent(static_cast<std::size_t>(count));
  testing::check_on_ranks(count, [&](Ranks& ranks) {
    Trainer trainer(config, {1, ranks});
    ranks.forget_traffic();
    trainer.advance();
    for (const Ranks::Traffic& call : ranks.traffic())
      if (call.what == "gradient sums" || call.what == "summed gradients")
        sent[static_cast<std::size_t>(ranks.rank())] += call.bytes;
  });
  return sent;
}

double as_real(Index count) { return static_cast<double>(count); }

}  // namespace

TEST_CASE("a step has the parameters, the operations and the peak that a trainer's has, with every option") {
  ModelConfig base = tiny_config().model;
  base.dropout = 0;
  for (const testing::ModelOption& option : testing::every_option(base)) {
    CAPTURE(option.name);
    const Config config = of_model(option.config);
    const StepEstimate estimate = estimate_step(config, kRound);
    const Measured measured = measured_step(config, 1);
    CHECK(estimate.parameters == measured.parameters);
    CHECK(estimate.operations == measured.operations);
    CHECK(estimate.memory.arrays == measured.peak);
  }
}

TEST_CASE("the peak is exact for every size of shard and batch, and every optimizer") {
  for (const std::string optimizer : {"sgd", "adam", "adamw"})
    for (const Index shard : {1, 2, 3, 4, 7, 100}) {
      CAPTURE(optimizer);
      CAPTURE(shard);
      Config config = tiny_config();
      config.model.width = 32;
      config.train.optimizer = optimizer;
      config.train.shard = shard;
      const StepEstimate estimate = estimate_step(config, kRound);
      const Measured measured = measured_step(config, 1);
      CHECK(estimate.memory.arrays == measured.peak);
      CHECK(estimate.operations == measured.operations);
      CHECK(estimate.shards == (7 + shard - 1) / shard);
      CHECK(estimate.tokens == 7 * 12);
    }
}

TEST_CASE("on several threads the peak lies between that of one thread and the estimate") {
  for (const Index shard : {1, 2, 3, 7})
    for (const int threads : {2, 3}) {
      CAPTURE(shard);
      CAPTURE(threads);
      Config config = tiny_config();
      config.train.shard = shard;
      const Measured measured = measured_step(config, threads);
      CHECK(measured.peak <= estimate_step(config, with_ranks(1, threads)).memory.arrays);
      CHECK(measured.peak >= estimate_step(config, kRound).memory.arrays);
    }
}

TEST_CASE("the estimate of GPT-2 small has its published parameters, and allocates nothing") {
  const Config config = read_config(TAPEHEAD_SOURCE_DIR "/configs/speed-gpt2.toml");
  reset_peak_memory();
  const MemoryUse before = memory_use();
  const StepEstimate estimate = estimate_step(config, with_ranks(2));
  CHECK(estimate.parameters == 124'439'808);
  CHECK(estimate.operations == 191'557'140'480);  // as experiments/counting counts
  CHECK(memory_use().peak == before.peak);
  CHECK(memory_use().obtained == before.obtained);
}

TEST_CASE("a part of the memory is what it is said to be") {
  const Config config = even_config();
  const Index set = block_bytes(estimate_step(config, kRound).parameters);
  for (const Index ranks : {1, 2, 4, 8}) {
    CAPTURE(ranks);
    const StepEstimate::Memory memory = estimate_step(config, with_ranks(ranks)).memory;
    CHECK(memory.model == set);
    CHECK(memory.averages == 2 * set);
    CHECK(memory.gradients == std::min<Index>(8 / ranks, 5) * set);  // of eight no more than five at once
    CHECK(memory.arrays ==
          memory.model + memory.averages + std::max(memory.activations, memory.exchange) + memory.gradients);
    CHECK(memory.peak() == memory.arrays);
  }
  const StepEstimate::Memory one = estimate_step(config, kRound).memory;
  const StepEstimate::Memory three = estimate_step(config, with_ranks(1, 3)).memory;
  CHECK(three.activations == 3 * one.activations);
  CHECK(estimate_step(config, with_ranks(4, 3)).memory.activations == 2 * one.activations);  // of two shards
  CHECK(one.exchange == 0);
}

TEST_CASE("dropout's masks count beside the arrays") {
  Config config = even_config();
  const Index arrays = estimate_step(config, kRound).memory.arrays;
  config.model.dropout = 0.5;
  const StepEstimate::Memory memory = estimate_step(config, kRound).memory;
  // A shard of 2: embedding and two layers' two parts, (2, 12, 8) each, and two patterns (2, 2, 12, 12).
  CHECK(memory.masks == 5 * 2 * 12 * 8 + 2 * 2 * 2 * 12 * 12);
  CHECK(memory.peak() == memory.arrays + memory.masks);
  CHECK(memory.arrays > arrays);
  CHECK(estimate_step(config, with_ranks(1, 2)).memory.masks == 2 * memory.masks);
}

TEST_CASE("computing takes a shard's operations at a thread's rate, as often as its threads take turns") {
  const Config config = even_config();
  const double shard = as_real(estimate_step(config, kRound).operations) / 8;
  const auto compute = [&](Index ranks, int threads) {
    return estimate_step(config, with_ranks(ranks, threads)).seconds.compute;
  };
  CHECK(compute(1, 1) == doctest::Approx(8 * shard / 1000));
  CHECK(compute(1, 2) == doctest::Approx(4 * shard / 1000));
  CHECK(compute(1, 3) == doctest::Approx(3 * shard / 1000));  // 3, 3 and 2 shards
  CHECK(compute(2, 2) == doctest::Approx(2 * shard / 1000));
  CHECK(compute(3, 1) == doctest::Approx(3 * shard / 1000));  // 2, 3 and 3 shards
  CHECK(compute(8, 4) == doctest::Approx(1 * shard / 1000));
}

TEST_CASE("a smaller last shard takes a smaller part of the time") {
  Config config = even_config();
  config.train.batch = 15;  // seven shards of 2 and one of 1
  const double sequence = as_real(estimate_step(config, kRound).operations) / 15;
  const auto compute = [&](int threads) {
    return estimate_step(config, with_ranks(1, threads)).seconds.compute;
  };
  CHECK(compute(1) == doctest::Approx(15 * sequence / 1000));
  CHECK(compute(2) == doctest::Approx(8 * sequence / 1000));  // four shards of 2, and three beside the small
  CHECK(compute(7) == doctest::Approx(3 * sequence / 1000));  // the small one comes second somewhere
  CHECK(compute(8) == doctest::Approx(2 * sequence / 1000));
}

TEST_CASE(
    "an update moves each set of gradients, sums of two and of blocks, and what the optimizer reads and "
    "writes") {
  Config config = even_config();
  const double parameters = as_real(estimate_step(config, kRound).parameters);
  const auto moved = [&](Index ranks) {
    return estimate_step(config, with_ranks(ranks)).seconds.update * 100 / kNumber / parameters;
  };
  // Eight sets and four sums; two blocks and their sum; gradients to be seen finite; read four arrays and
  // write three.
  CHECK(moved(1) == doctest::Approx(8 + 4 + 3 + 1 + 7));
  // Four sets and two sums of its own; the other's sum of its half; the norm of the whole.
  CHECK(moved(2) == doctest::Approx(4 + 2 + 1 + 7 + 0.5 + 1));
  config.train.optimizer = "sgd";
  CHECK(moved(1) == doctest::Approx(8 + 4 + 3 + 1 + 5));
}

TEST_CASE("of R ranks each sends and gets (R - 1)/R of the parameters twice, and one rank nothing") {
  const Config config = even_config();
  const Index parameters = estimate_step(config, kRound).parameters;
  REQUIRE(parameters % 8 == 0);
  for (const Index ranks : {1, 2, 4, 8}) {
    CAPTURE(ranks);
    const StepEstimate estimate = estimate_step(config, with_ranks(ranks));
    const Index bytes = 2 * parameters / ranks * (ranks - 1) * static_cast<Index>(sizeof(Real));
    CHECK(estimate.sent_bytes == bytes);
    CHECK(estimate.received_bytes == bytes);
    CHECK(estimate.messages == 2 * (ranks - 1));
    CHECK(estimate.seconds.exchange == doctest::Approx(as_real(bytes) / 10 + as_real(ranks - 1)));
    CHECK(estimate.memory.exchange == (ranks == 1 ? 0 : (ranks - 1) * block_bytes(parameters / ranks)));
  }
}

TEST_CASE("ranks whose shards are not whole branches of the tree send several sums") {
  Config config = even_config();
  config.train.batch = 12;  // six shards for four ranks: 1, 2, 1 and 2, of which 1 and 2 have no common sum
  const Index part = estimate_step(config, kRound).parameters / 4;
  const StepEstimate estimate = estimate_step(config, with_ranks(4));
  CHECK(estimate.shards_of_rank == 2);
  const auto number = static_cast<Index>(sizeof(Real));
  CHECK(estimate.sent_bytes == number * part * (2 * 3 + 3));  // two sums, and its part
  CHECK(estimate.received_bytes == number * part * (4 + 3));  // of five sums all but one
  CHECK(estimate.messages == 3 * 3);
  CHECK(estimate.memory.exchange == 4 * block_bytes(part));
}

TEST_CASE("the rank that sends most sends what was estimated, however shards fall to ranks") {
  for (const Index batch : {1, 7, 12, 16})
    for (const int ranks : {1, 2, 3, 4, 5}) {
      CAPTURE(batch);
      CAPTURE(ranks);
      Config config = tiny_config();
      config.train.batch = batch;
      CHECK(estimate_step(config, with_ranks(ranks)).sent_bytes ==
            std::ranges::max(bytes_sent(config, ranks)));
    }
}

TEST_CASE("large gradients are exchanged in segments, of which only one is held") {
  Config config = read_config(TAPEHEAD_SOURCE_DIR "/configs/speed-gpt2.toml");
  config.train.batch = 16;
  config.train.shard = 1;
  const StepEstimate estimate = estimate_step(config, with_ranks(4));
  CHECK(estimate.memory.exchange == 3 * block_bytes((Index{1} << 22) / 4));
  CHECK(estimate.messages == 30 * 2 * 3);  // 124 million numbers in segments of 4.2 million
}

TEST_CASE("ranks beyond the number of shards have nothing to compute, and save nothing") {
  const Config config = even_config();
  const StepEstimate eight = estimate_step(config, with_ranks(8));
  const StepEstimate many = estimate_step(config, with_ranks(20));
  CHECK(many.shards_of_rank == 1);
  CHECK(many.seconds.compute == eight.seconds.compute);
  CHECK(many.memory.gradients == eight.memory.gradients);  // those without shards need room for the sum
  CHECK(many.efficiency < eight.efficiency);
}

TEST_CASE("a step is its parts one after another, and efficiency is what is left of a single rank's rate") {
  const Config config = even_config();
  const StepEstimate one = estimate_step(config, kRound);
  CHECK(one.efficiency == 1);
  CHECK(one.tokens_per_second == doctest::Approx(16 * 12 / one.seconds.step()));
  const StepEstimate four = estimate_step(config, with_ranks(4));
  CHECK(four.seconds.step() ==
        doctest::Approx(four.seconds.compute + four.seconds.update + four.seconds.exchange));
  CHECK(four.efficiency == doctest::Approx(one.seconds.step() / four.seconds.step() / 4));
}

TEST_CASE("more ranks take less memory each and compute less each, and all together the same") {
  const Config config = even_config();
  StepEstimate before = estimate_step(config, kRound);
  for (const Index ranks : {2, 4, 8}) {
    const StepEstimate now = estimate_step(config, with_ranks(ranks));
    CHECK(now.operations == before.operations);
    CHECK(now.memory.gradients < before.memory.gradients);
    CHECK(now.memory.arrays < before.memory.arrays);
    CHECK(now.seconds.compute < before.seconds.compute);
    CHECK(now.seconds.update < before.seconds.update);
    CHECK(now.seconds.exchange > before.seconds.exchange);
    CHECK(now.efficiency < before.efficiency);
    before = now;
  }
}

TEST_CASE("faster machines take less time, each in its part alone") {
  const Config config = even_config();
  const StepEstimate::Seconds slow = estimate_step(config, with_ranks(4)).seconds;
  const auto with = [&](double Machines::*rate) {
    Machines machines = with_ranks(4);
    machines.*rate *= 2;
    return estimate_step(config, machines).seconds;
  };
  const StepEstimate::Seconds computes = with(&Machines::operations_per_second);
  CHECK(computes.compute == doctest::Approx(slow.compute / 2));
  CHECK(computes.update == slow.update);
  CHECK(computes.exchange == slow.exchange);
  CHECK(with(&Machines::memory_bytes_per_second).update == doctest::Approx(slow.update / 2));
  CHECK(with(&Machines::network_bytes_per_second).exchange < slow.exchange);
  CHECK(with(&Machines::seconds_per_message).exchange > slow.exchange);
}

TEST_CASE("rates are measured on steps of one shard, whatever the batch and its interventions") {
  Config config = tiny_config();
  config.model.initialisation = Initialisation::imported;
  config.train.learning_rate = 1e9;
  config.train.batch = 1'000'000;
  config.interventions = {{.site = "blocks.0.attention.head_output", .to = 5}};
  const Machines machines = measured_rates(config, 2, 0);
  CHECK(machines.operations_per_second > 0);
  CHECK(machines.memory_bytes_per_second > 0);
  CHECK(machines.ranks == 1);
}

TEST_CASE("an estimate refuses machines that are none, and configs that are none") {
  const Config config = tiny_config();
  CHECK_THROWS_WITH_AS(estimate_step(config, with_ranks(0)), "[estimate] expected at least one rank, got 0",
                       UsageError);
  CHECK_THROWS_WITH_AS(estimate_step(config, with_ranks(1'000'001)),
                       "[estimate] expected at most 1000000 ranks, got 1000001", UsageError);
  CHECK_THROWS_WITH_AS(estimate_step(config, with_ranks(1, 0)),
                       "[estimate] expected at least one thread, got 0", UsageError);
  Machines machines = kRound;
  machines.network_bytes_per_second = 0;
  CHECK_THROWS_WITH_AS(estimate_step(config, machines),
                       "[estimate] expected network_bytes_per_second above 0, got 0", UsageError);
  machines = kRound;
  machines.seconds_per_message = -1;
  CHECK_THROWS_WITH_AS(estimate_step(config, machines),
                       "[estimate] expected seconds_per_message of at least 0, got -1", UsageError);
  Config wrong = config;
  wrong.model.heads = 3;
  CHECK_THROWS_AS(estimate_step(wrong, kRound), UsageError);
}

}  // namespace tapehead
