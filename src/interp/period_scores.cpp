#include "tapehead/interp/period_scores.h"

#include <algorithm>
#include <utility>

#include "tapehead/base/require.h"
#include "tapehead/interp/copying.h"
#include "tapehead/tasks/repeated_sequence.h"
#include "tapehead/train/run_checkpoint.h"

namespace tapehead {

Batch period_batch(const PeriodOptions& options, Index vocabulary, Index period) {
  const FixedPeriodSequence task({.vocabulary = vocabulary, .length = options.length, .period = period});
  Generator generator(options.seed, Purpose::evaluation, period);
  return task.sample(generator, options.sequences);
}

PeriodOptions period_options(const Config& config, const Task& task, std::vector<Index> periods) {
  if (periods.empty()) throw UsageError("[heads] expected a period, got none");
  const auto [shortest, longest] = std::minmax_element(periods.begin(), periods.end());
  const Index context = config.model.context;
  const Index length =
      task.periods()
          ? task.length()
          : std::min(context, std::max(task.length(), *longest > context / 2 ? context : 2 * *longest));
  if (*shortest < 1 || *longest >= length)
    throw UsageError(fmt::format("[heads] expected periods from 1 to {}, below the length of {}, got {}",
                                 length - 1, length, *shortest < 1 ? *shortest : *longest));
  return {std::move(periods), length, config.train.evaluation_sequences, config.train.evaluation_seed};
}

std::vector<PeriodScores> scores_at_periods(const Transformer& model, const PeriodOptions& options,
                                            const std::optional<Periods>& trained_on,
                                            const EvaluateOptions& evaluation) {
  // A score of the model alone, whatever the period.
  const std::vector<double> copying = copying_scores(model, evaluation.threads);
  std::vector<PeriodScores> scores;
  for (const Index period : options.periods) {
    const Batch batch = period_batch(options, model.config().vocabulary, period);
    PeriodScores& at = scores.emplace_back();
    at.period = period;
    at.trained_on = trained_on && trained_on->contains(period);
    if (model.config().layers == 0) continue;
    HeadScorer scorer(model.config(), batch);
    evaluate(model, batch, {scorer}, evaluation);
    at.heads = scorer.scores(copying);
  }
  return scores;
}

std::optional<Transformer> model_at_start(const RunDirectory& run) {
  const Config& config = run.config();
  if (config.model.initialisation == Initialisation::imported) return std::nullopt;
  if (std::filesystem::exists(run.checkpoint_file(0))) return run_checkpoint(run, 0).model;
  return Transformer(config.model, config.train.initialisation_seed);
}

std::vector<PeriodScores> scores_of_run(const RunDirectory& run, const Checkpoint& checkpoint,
                                        const Task& task, const PeriodOptions& options,
                                        const EvaluateOptions& evaluation) {
  const bool was_trained_elsewhere =
      checkpoint.config.model.initialisation == Initialisation::imported && checkpoint.step == 0;
  const std::optional<Periods> trained_on = was_trained_elsewhere ? std::nullopt : task.periods();
  std::vector<PeriodScores> scores = scores_at_periods(checkpoint.model, options, trained_on, evaluation);
  for (PeriodScores& at : scores) at.step = checkpoint.step;
  const std::optional<Transformer> start = model_at_start(run);
  if (!start) return scores;
  for (PeriodScores& at : scores_at_periods(*start, options, trained_on, evaluation)) {
    at.trained = false;
    scores.push_back(std::move(at));
  }
  return scores;
}

CsvTable period_table(const std::vector<PeriodScores>& scores, const PeriodOptions& options) {
  std::vector<std::string> columns{"model", "period", "trained_on", "layer", "head"};
  for (const ScoreDefinition& score : kScores) columns.emplace_back(score.name);
  for (const char* last : {"length", "step", "sequences"}) columns.emplace_back(last);
  CsvTable table(std::move(columns));
  for (const PeriodScores& at : scores)
    for (const HeadScores& head : at.heads) {
      std::vector<std::string> row{at.trained ? "trained" : "untrained", std::to_string(at.period),
                                   at.trained_on ? "1" : "0", std::to_string(head.layer),
                                   std::to_string(head.head)};
      for (const double value : head.values) row.push_back(csv_cell(value));
      for (const Index last : {options.length, at.step, options.sequences})
        row.push_back(std::to_string(last));
      table.add(std::move(row));
    }
  return table;
}

}  // namespace tapehead
