#include "tapehead/interp/period_scores.h"

#include "support/folder.h"
#include "support/functions.h"
#include "support/models.h"
#include "support/tokens_model.h"
#include "support/training.h"
#include "tapehead/interp/copying.h"
#include "tapehead/tasks/repeated_sequence.h"
#include "tapehead/train/run.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

const std::vector<Index> kPeriods{4, 8, 12, 16, 20, 23};

/// What a perfect head of each kind looks at, for a query whose copy lies `copy` back.
Index key_of(Score score, Index q, Index copy) {
  switch (score) {
    case Score::previous_token:
      return q == 0 ? 0 : q - 1;
    case Score::first_token:
      return 0;
    case Score::duplicate_token:
      return q < copy ? q : q - copy;
    case Score::induction:
    case Score::prefix_matching:
      return q < copy ? q : q - copy + 1;
    default:
      return q;
  }
}

Config repeated(Index period_min, Index period_max) {
  Config config = tiny_config();
  config.task.period_min = period_min;
  config.task.period_max = period_max;
  return config;
}

}  // namespace

TEST_CASE("at every period a perfect head scores exactly 1, and an even one the chance level") {
  const double rounding = sizeof(Real) == 8 ? 1e-14 : 1e-7;
  for (const Index period : kPeriods) {
    const Batch batch = period_batch({.sequences = 5}, 64, period);
    const Index length = batch.length();
    const ScoreValues chance = chance_scores(batch, 8);
    Tensor even({5, 1, length, length});
    for (Index b = 0; b < 5; ++b)
      for (Index q = 0; q < length; ++q)
        for (Index k = 0; k <= q; ++k) even(b, 0, q, k) = static_cast<Real>(1) / static_cast<Real>(q + 1);
    const HeadScores even_scores = score_pattern(even, batch, 0).front();
    for (const ScoreDefinition& score : kScores) {
      CAPTURE(period);
      CAPTURE(std::string(score.name));
      const auto which = static_cast<std::size_t>(score.score);
      if (score.score == Score::copying) continue;
      Tensor perfect({5, 1, length, length});
      for (Index b = 0; b < 5; ++b)
        for (Index q = 0; q < length; ++q) perfect(b, 0, q, key_of(score.score, q, period)) = 1;
      CHECK(score_pattern(perfect, batch, 0).front()[score.score] == 1);
      CHECK(even_scores[score.score] == doctest::Approx(chance[which]).epsilon(rounding));
    }
    CHECK(chance[static_cast<std::size_t>(Score::copying)] == -0.75);
  }
}

TEST_CASE("in models a perfect copier scores exactly 1 at every period, and a model of zeros chance in all") {
  const PeriodOptions options{.periods = {2, 3, 5}, .length = 12, .sequences = 4, .seed = 1};
  for (const PeriodScores& at : scores_at_periods(token_model(8, 1), options, std::nullopt))
    CHECK(at.heads.front()[Score::copying] == 1);
  for (const PeriodScores& at : scores_at_periods(token_model(8, 0), options, std::nullopt)) {
    const ScoreValues chance = chance_scores(period_batch(options, 8, at.period), 8);
    for (std::size_t i = 0; i < chance.size(); ++i)
      CHECK(at.heads.front().values[i] == doctest::Approx(chance[i]).epsilon(1e-6));
    CHECK(at.heads.front()[Score::copying] == chance_copying(8));
  }
}

TEST_CASE("the induction stripe of every period lies at period - 1, from the second copy on") {
  // A head that looks three back finds what followed the copy at period 4, and at no other.
  for (const Index period : {3, 4, 5}) {
    const Batch batch = period_batch({.length = 20, .sequences = 3}, 1 << 20, period);
    Tensor weights({3, 1, 20, 20});
    for (Index b = 0; b < 3; ++b)
      for (Index q = 0; q < 20; ++q) weights(b, 0, q, q < 3 ? 0 : q - 3) = 1;
    CHECK(score_pattern(weights, batch, 0).front()[Score::induction] == (period == 4 ? 1 : 0));
    CHECK(score_pattern(weights, batch, 0).front()[Score::duplicate_token] == (period == 3 ? 1 : 0));
  }
}

TEST_CASE("scores at periods are those of an evaluation at each, marked as trained on or not") {
  const Config config = repeated(3, 6);
  const Transformer model = random_model(config.model);
  const std::unique_ptr<Task> task = make_task(config.task, config.model.vocabulary);
  const PeriodOptions options = period_options(config, *task, {2, 5, 9});
  CHECK(options.length == 12);
  CHECK(options.sequences == 9);
  CHECK(options.seed == config.train.evaluation_seed);
  const std::vector<PeriodScores> scores = scores_at_periods(model, options, task->periods(), {.threads = 2});
  REQUIRE(scores.size() == 3);
  for (const PeriodScores& at : scores) {
    CHECK(at.trained_on == (at.period == 5));
    const Batch batch = period_batch(options, config.model.vocabulary, at.period);
    CHECK(batch.earlier_copy(8, 11) == 11 - at.period);
    const std::vector<HeadScores> expected = score_heads(model, batch);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(at.heads[i].values == expected[i].values);
  }
  for (const PeriodScores& at : scores_at_periods(model, options, std::nullopt)) CHECK_FALSE(at.trained_on);

  const CsvTable table = period_table(scores, options);
  REQUIRE(table.rows() == 12);
  CHECK(table.cell(4, "model") == "trained");
  CHECK(table.cell(4, "period") == "5");
  CHECK(table.cell(4, "trained_on") == "1");
  CHECK(table.cell(0, "trained_on") == "0");
  CHECK(table.cell(5, "head") == "1");
  CHECK(table.cell(5, "copying") == csv_cell(scores[1].heads[1][Score::copying]));
  CHECK(table.cell(5, "length") == "12");
}

TEST_CASE("periods that do not fit are refused, and a task without periods gives them what the context has") {
  const Config config = repeated(3, 6);
  const std::unique_ptr<Task> task = make_task(config.task, config.model.vocabulary);
  const auto options = [&](std::vector<Index> periods) {
    return complaint_of([&] { period_options(config, *task, std::move(periods)); });
  };
  CHECK(options({11}) == "accepted");
  CHECK(options({12}).find("periods from 1 to 11, below the length of 12, got 12") != std::string::npos);
  CHECK(options({3, 0}).find("got 0") != std::string::npos);
  CHECK(options({}).find("expected a period") != std::string::npos);

  class Unrepeated : public Task {
   public:
    Batch sample(Generator&, Index count) const override { return noise_batch(count, 6); }
    Index vocabulary() const override { return 8; }
    Index length() const override { return 6; }
  };
  CHECK(period_options(config, Unrepeated(), {2}).length == 6);
  CHECK(period_options(config, Unrepeated(), {2, 5}).length == 10);
  CHECK(period_options(config, Unrepeated(), {9}).length == 12);
  CHECK_THROWS_AS(period_options(config, Unrepeated(), {12}), UsageError);
  CHECK_THROWS_AS(period_options(config, Unrepeated(), {std::numeric_limits<Index>::max()}), UsageError);
}

TEST_CASE("a run's start is its checkpoint of step 0, or the same weights drawn again") {
  const Folder folder;
  const Config config = tiny_config();
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  const Transformer drawn(config.model, config.train.initialisation_seed);
  CHECK(same_bits(model_at_start(run)->parameters(), drawn.parameters()));
  Trainer trainer(config, 1);
  train_run(trainer, run, {});
  REQUIRE(std::filesystem::exists(run.checkpoint_file(0)));
  CHECK(same_bits(model_at_start(run)->parameters(), drawn.parameters()));
  CHECK_FALSE(same_bits(trainer.model().parameters(), drawn.parameters()));

  Config imported = config;
  imported.model.initialisation = Initialisation::imported;
  CHECK_FALSE(model_at_start(RunDirectory::create(folder / "imported", imported, false)));
}
