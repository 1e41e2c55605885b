#include "tapehead/interp/context_score.h"

#include <cmath>

#include "support/folder.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/train/run.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/trainer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// Losses a - b ln(position), and `step` more for each sequence.
Evaluation evaluation_of(Index sequences, Index length, double a, double b, double step = 0) {
  Evaluation evaluation{Tensor({sequences, length}), Tensor({sequences, length}),
                        Table<Kind>(sequences, length, Kind::noise)};
  for (Index s = 0; s < sequences; ++s)
    for (Index t = 0; t < length; ++t)
      evaluation.losses(s, t) =
          static_cast<Real>(a - b * std::log(static_cast<double>(t + 1)) + step * static_cast<double>(s));
  return evaluation;
}

}  // namespace

TEST_CASE("positions lie in bands, two each time the position doubles, which leave none out") {
  using Bands = std::vector<PositionBand>;
  CHECK(position_bands(18) == Bands{{1, 1}, {2, 2}, {3, 3}, {4, 5}, {6, 7}, {8, 10}, {11, 18}});
  CHECK(position_bands(19).back() == PositionBand{16, 19});
  for (const Index length : {1, 2, 3, 47, 48, 512, 1000}) {
    Index next = 1;
    for (const PositionBand& band : position_bands(length)) {
      CHECK(band.first == next);
      CHECK(band.last >= band.first);
      next = band.last + 1;
    }
    CHECK(next == length + 1);
  }
}

TEST_CASE("a band around a position takes in its share on both sides, as far as there are positions") {
  CHECK(band_around(50, 0.1, 512) == PositionBand{45, 55});
  CHECK(band_around(500, 0.1, 512) == PositionBand{450, 512});
  CHECK(band_around(500, 0.1, 1024) == PositionBand{450, 550});
  CHECK(band_around(500, 0, 512) == PositionBand{500, 500});
  CHECK(band_around(1, 0.9, 512) == PositionBand{1, 1});
}

TEST_CASE("early and late are 50 and 500, and in shorter sequences a tenth and the end") {
  CHECK(context_options(500, {}, {}).early == 50);
  CHECK(context_options(1024, {}, {}).late == 500);
  CHECK(context_options(499, {}, {}).early == 49);
  CHECK(context_options(499, {}, {}).late == 499);
  CHECK(context_options(2, {}, {}).early == 1);
  CHECK(context_options(48, 3, {}).early == 3);
  for (const auto& [early, late] : {std::pair<Index, Index>{0, 10}, {10, 10}, {11, 10}, {5, 49}, {-1, 5}})
    CHECK_THROWS_AS(context_options(48, early, late), UsageError);
  CHECK_THROWS_AS(context_options(1, {}, {}), UsageError);
  CHECK_THROWS_WITH_AS(context_options(48, 20, 22),
                       doctest::Contains("positions apart, got 18 to 22 and 20 to 24"), UsageError);
  CHECK_NOTHROW(context_options(48, 20, 22, 0.01));
  for (const double spread : {-0.1, 1.0, std::nan("")})
    CHECK_THROWS_AS(context_options(48, {}, {}, spread), UsageError);
}

TEST_CASE("a loss that falls with the logarithm of the position has its slope everywhere, and its score") {
  const Evaluation evaluation = evaluation_of(5, 512, 6, 0.25, 0.1);
  ContextOptions options = context_options(512, {}, {}, 0);
  const ContextLosses exact = context_losses(evaluation, options);
  for (const double slope : exact.slopes) CHECK(slope == doctest::Approx(-0.25).epsilon(1e-4));
  CHECK(exact.losses.size() == position_bands(512).size());
  // The mean of five sequences is 0.2 above the first.
  CHECK(exact.losses.front() == doctest::Approx(6.2));
  CHECK(exact.score.mean == doctest::Approx(-0.25 * std::log(10.0)).epsilon(1e-5));
  // Every sequence has the same difference.
  CHECK(exact.score.low == doctest::Approx(exact.score.mean).epsilon(1e-5));
  CHECK(exact.late - exact.early == doctest::Approx(exact.score.mean).epsilon(1e-5));
  // Over a spread: the mean over positions 450 to 512 less that over 45 to 55.
  const auto mean_log = [](Index first, Index last) { return PositionBand{first, last}.mean_log(); };
  options.spread = 0.1;
  CHECK(context_losses(evaluation, options).score.mean ==
        doctest::Approx(-0.25 * (mean_log(450, 512) - mean_log(45, 55))).epsilon(1e-5));
}

TEST_CASE("the interval of the score is that of paired differences over sequences") {
  Evaluation evaluation = evaluation_of(40, 20, 3, 0, 10);
  for (Index s = 0; s < 40; ++s) evaluation.losses(s, 19) -= static_cast<Real>(s % 2);
  const ContextOptions options = context_options(20, 2, 20, 0);
  const ContextLosses losses = context_losses(evaluation, options);
  CHECK(losses.score.mean == doctest::Approx(-0.5).epsilon(1e-4));
  // Sequences differ by hundreds, their differences by one.
  CHECK(losses.score.high - losses.score.low < 0.4);
  CHECK(losses.score.high - losses.score.low > 0.2);
}

TEST_CASE("a sequence of one position has a loss and no slope") {
  CHECK(position_bands(1).size() == 1);
  CHECK_THROWS_AS(context_losses(evaluation_of(3, 1, 2, 0), {}), Error);
}

TEST_CASE("a run's table has a row a checkpoint and band, each as its own evaluation gives it") {
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", tiny_config(), false);
  Trainer trainer(tiny_config(), 1);
  train_run(trainer, run, {});
  const std::vector<Index> steps = run.checkpoint_steps();
  REQUIRE(steps.size() > 1);
  const Index length = run.config().task.length;
  ContextOptions options = context_options(length, {}, {});
  options.sequences = 9;
  const CsvTable table =
      context_table(context_of_run(run, steps, options, {.threads = 1, .shard = 16}), length, options);
  const std::vector<PositionBand> bands = position_bands(length);
  CHECK(table.rows() == static_cast<Index>(steps.size() * bands.size()));
  CHECK(table ==
        context_table(context_of_run(run, steps, options, {.threads = 3, .shard = 2}), length, options));

  Config config = run.config();
  config.train.evaluation_sequences = 9;
  const Evaluation last = evaluate(run_checkpoint(run, steps.back()).model, evaluation_batch(config));
  double total = 0;  // of the last band, by hand
  for (Index s = 0; s < 9; ++s)
    for (Index position = bands.back().first; position <= bands.back().last; ++position)
      total += static_cast<double>(last.losses(s, position - 1));
  const Index row = table.rows() - 1;
  CHECK(table.number(row, "step") == static_cast<double>(steps.back()));
  CHECK(table.number(row, "last_position") == static_cast<double>(length));
  CHECK(table.number(row, "loss") ==
        doctest::Approx(total / static_cast<double>(9 * (length - bands.back().first + 1))).epsilon(1e-5));
  CHECK(table.number(row, "sequences") == 9);
  CHECK(table.number(row, "early") == static_cast<double>(options.early));
}
