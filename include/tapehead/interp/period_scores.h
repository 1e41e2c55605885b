/// The scores of heads at several periods, trained on or not, beside those of the untrained model.
///
/// A head that found its key by position alone scores high at the periods it was trained on, and low at
/// others; an induction head finds it by content, whatever the period.
#pragma once

#include <optional>
#include <vector>

#include "tapehead/interp/head_scores.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// The sequences of all periods.
struct PeriodOptions {
  std::vector<Index> periods = {4, 8, 12, 16, 20, 23};
  Index length = 48;      ///< positions of a sequence
  Index sequences = 256;  ///< a period
  std::uint64_t seed = 0;
};

/// One model's heads on sequences of one period.
struct PeriodScores {
  bool trained = true;  ///< false: the model as its training began
  Index step = 0;
  Index period = 0;
  bool trained_on = false;  ///< whether the training's sequences repeat at this period
  std::vector<HeadScores> heads = {};
};

/// Random segments of `period` tokens, repeated to fill the length: the sequences that `eval --periods`
/// takes. Throws UsageError for a period that does not fit.
Batch period_batch(const PeriodOptions& options, Index vocabulary, Index period);

/// What to score a run on: sequences as long as the task's; where its sequences do not repeat, as long as two
/// copies of the longest period if the context has room for them. Seed and number are the evaluation's.
/// Throws UsageError for periods that do not fit.
PeriodOptions period_options(const Config& config, const Task& task, std::vector<Index> periods);

/// Scores of all heads at every period. `trained_on` has the periods of the training's sequences; empty where
/// they are not known, or do not repeat.
std::vector<PeriodScores> scores_at_periods(const Transformer& model, const PeriodOptions& options,
                                            const std::optional<Periods>& trained_on,
                                            const EvaluateOptions& evaluation = {});

/// The model as a run's training began: that of the checkpoint of step 0, or the same weights drawn again;
/// nothing for an imported model, whose training was elsewhere.
std::optional<Transformer> model_at_start(const RunDirectory& run);

/// Of a run's checkpoint at every period, and then of the model as its training began, where that can be had.
std::vector<PeriodScores> scores_of_run(const RunDirectory& run, const Checkpoint& checkpoint,
                                        const Task& task, const PeriodOptions& options,
                                        const EvaluateOptions& evaluation = {});

/// One row a model, period and head: model (trained or untrained), period, trained_on, layer, head, the
/// scores of kScores, length, step, sequences.
CsvTable period_table(const std::vector<PeriodScores>& scores, const PeriodOptions& options);

}  // namespace tapehead
