#include "tapehead/interp/context_score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "tapehead/base/require.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

constexpr double kBandsPerDoubling = 2;

/// The mean loss of one sequence over a band.
double loss_in(const Evaluation& evaluation, Index sequence, const PositionBand& band) {
  double total = 0;
  for (Index position = band.first; position <= band.last; ++position)
    total += static_cast<double>(evaluation.losses(sequence, position - 1));
  return total / static_cast<double>(band.last - band.first + 1);
}

std::vector<double> losses_in(const Evaluation& evaluation, const PositionBand& band) {
  std::vector<double> losses;
  for (Index sequence = 0; sequence < evaluation.kinds.batch(); ++sequence)
    losses.push_back(loss_in(evaluation, sequence, band));
  return losses;
}

std::vector<double> slopes_of(const std::vector<double>& losses, const std::vector<PositionBand>& bands) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const std::size_t before = i == 0 ? i : i - 1;
    const std::size_t after = std::min(i + 1, bands.size() - 1);
    slopes.push_back(before == after ? std::numeric_limits<double>::quiet_NaN()
                                     : (losses[after] - losses[before]) /
                                           (bands[after].mean_log() - bands[before].mean_log()));
  }
  return slopes;
}

}  // namespace

double PositionBand::mean_log() const {
  double total = 0;
  for (Index position = first; position <= last; ++position) total += std::log(static_cast<double>(position));
  return total / static_cast<double>(last - first + 1);
}

PositionBand band_around(Index position, double spread, Index length) {
  const auto centre = static_cast<double>(position);
  // (One part in a million, so that 0.9 times 50 is no less than 45.)
  const auto first = static_cast<Index>(std::ceil(centre * (1 - spread) - 1e-6 * centre));
  const auto last = static_cast<Index>(std::floor(centre * (1 + spread) + 1e-6 * centre));
  return {std::max(Index{1}, first), std::min(length, last)};
}

ContextOptions context_options(Index length, std::optional<Index> early, std::optional<Index> late,
                               double spread) {
  ContextOptions options;
  const bool is_long = length >= options.late;
  options.early = early.value_or(is_long ? options.early : std::max(Index{1}, length / 10));
  options.late = late.value_or(is_long ? options.late : length);
  options.spread = spread;
  if (!(spread >= 0 && spread < 1))
    throw UsageError(fmt::format("[context] expected a spread from 0 to below 1, got {}", spread));
  if (options.early < 1 || options.early >= options.late || options.late > length)
    throw UsageError(fmt::format(
        "[context] expected an early position, and a late one after it, from 1 to {}, got {} and {}", length,
        options.early, options.late));
  const PositionBand early_band = band_around(options.early, spread, length);
  const PositionBand late_band = band_around(options.late, spread, length);
  if (early_band.last >= late_band.first)
    throw UsageError(
        fmt::format("[context] expected positions apart, got {} to {} and {} to {}; a smaller spread than {} "
                    "keeps them so",
                    early_band.first, early_band.last, late_band.first, late_band.last, spread));
  return options;
}

std::vector<PositionBand> position_bands(Index length) {
  std::vector<PositionBand> bands;
  Index first = 1;
  for (int k = 1; first <= length; ++k) {
    const auto next = static_cast<Index>(std::round(std::exp2(k / kBandsPerDoubling)));
    if (next <= first) continue;
    // A rest of less than half a band would be noise.
    if (!bands.empty() && 2 * (length - first + 1) < next - first)
      bands.back().last = length;
    else
      bands.push_back({first, std::min(length, next - 1)});
    first = next;
  }
  return bands;
}

ContextLosses context_losses(const Evaluation& evaluation, const ContextOptions& options) {
  const Index length = evaluation.kinds.length();
  require(1 <= options.early && options.early < options.late && options.late <= length,
          "[context] expected two positions from 1 to {}, got {} and {}", length, options.early,
          options.late);
  const std::vector<PositionBand> bands = position_bands(length);
  ContextLosses result;
  for (const PositionBand& band : bands) result.losses.push_back(known_mean(losses_in(evaluation, band)));
  result.slopes = slopes_of(result.losses, bands);
  const std::vector<double> early = losses_in(evaluation, band_around(options.early, options.spread, length));
  const std::vector<double> late = losses_in(evaluation, band_around(options.late, options.spread, length));
  result.score = bootstrap(differences(late, early));
  result.early = known_mean(early);
  result.late = known_mean(late);
  return result;
}

std::vector<ContextLosses> context_of_run(const RunDirectory& run, std::span<const Index> steps,
                                          const ContextOptions& options, const EvaluateOptions& evaluation,
                                          const std::function<void(const ContextLosses&)>& measured) {
  std::vector<ContextLosses> all;
  std::optional<Batch> batch;
  for (const Index step : steps) {
    const Checkpoint checkpoint = run_checkpoint(run, step);
    if (!batch) {
      Config config = checkpoint.config;
      config.train.evaluation_sequences = options.sequences;
      batch = evaluation_batch(config, *task_of(checkpoint));
    }
    all.push_back(context_losses(evaluate(checkpoint.model, *batch, {}, evaluation), options));
    all.back().step = step;
    if (measured) measured(all.back());
  }
  return all;
}

CsvTable context_table(const std::vector<ContextLosses>& checkpoints, Index length,
                       const ContextOptions& options) {
  CsvTable table({"step", "first_position", "last_position", "loss", "slope", "score", "score_low",
                  "score_high", "loss_early", "loss_late", "early", "late", "spread", "sequences"});
  const std::vector<PositionBand> bands = position_bands(length);
  for (const ContextLosses& at : checkpoints)
    for (std::size_t i = 0; i < bands.size(); ++i)
      table.add({std::to_string(at.step), std::to_string(bands[i].first), std::to_string(bands[i].last),
                 csv_cell(at.losses[i]), csv_cell(at.slopes[i]), csv_cell(at.score.mean),
                 csv_cell(at.score.low), csv_cell(at.score.high), csv_cell(at.early), csv_cell(at.late),
                 std::to_string(options.early), std::to_string(options.late), csv_cell(options.spread),
                 std::to_string(options.sequences)});
  return table;
}

}  // namespace tapehead
