#include "tapehead/train/run_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tapehead/base/require.h"
#include "tapehead/nn/site.h"
#include "tapehead/train/schedule.h"

namespace tapehead {

namespace {

const std::vector<std::string> kMetrics{"step",           "tokens",        "loss",
                                        "loss_induction", "loss_noise",    "accuracy_induction",
                                        "learning_rate",  "gradient_norm", "seconds"};

/// The evaluation after step `at` of a run.
Index next_evaluation(const TrainConfig& config, Index at) {
  const Index next = (at / config.evaluation_interval + 1) * config.evaluation_interval;
  return at < config.steps ? std::min(next, config.steps) : next;
}

/// The rows of a fork that its parent wrote: as many for each evaluation, in their order. Returns their
/// number.
Index rows_of_parent(const CsvTable& table, const std::filesystem::path& file, double last_step, Index rows) {
  Index row = 0;
  double before = -1;
  while (row < table.rows() && table.number(row, "step") <= last_step) {
    const double at = table.number(row, "step");
    require(at > before, "[run] {}: the rows of step {} are out of order", file.string(), at);
    for (const Index end = row + rows; row < end; ++row)
      require(row < table.rows() && table.number(row, "step") == at,
              "[run] {} should have {} rows for each evaluation; of those of step {} some are missing",
              file.string(), rows, at);
    before = at;
  }
  return row;
}

CsvTable table_until(const RunDirectory& run, const std::filesystem::path& file, Index step, Index rows) {
  const TrainConfig& config = run.config().train;
  CsvTable table = CsvTable::read(file);
  table.drop_above("step", static_cast<double>(step));
  const std::optional<Parent> parent = run.parent();
  Index row = parent && rows > 0 ? rows_of_parent(table, file, static_cast<double>(parent->step), rows) : 0;
  for (Index at = parent ? next_evaluation(config, parent->step) : 0; at <= step && rows > 0;
       at = next_evaluation(config, at))
    for (const Index end = row + rows; row < end; ++row)
      require(row < table.rows() && table.number(row, "step") == static_cast<double>(at),
              "[run] {} should have {} row{} for each evaluation up to the checkpoint of step {}; those of "
              "step {} are missing or out of order",
              file.string(), rows, rows == 1 ? "" : "s", step, at);
  require(row == table.rows(), "[run] {} has {} rows too many up to step {}", file.string(),
          table.rows() - row, step);
  return table;
}

}  // namespace

void append_metrics(const RunDirectory& run, const Trainer& trainer, const Evaluation& evaluation,
                    const Trainer::StepReport* last, double seconds) {
  const TrainConfig& config = trainer.config().train;
  const Index tokens = trainer.step() * config.batch * trainer.task().length();
  CsvTable row(kMetrics);
  row.add({std::to_string(trainer.step()), std::to_string(tokens), csv_cell(evaluation.loss()),
           csv_cell(evaluation.loss(Kind::induction)), csv_cell(evaluation.loss(Kind::noise)),
           csv_cell(evaluation.accuracy(Kind::induction)),
           csv_cell(last == nullptr ? scheduled_rate(config, 0) : last->learning_rate),
           last == nullptr ? "" : csv_cell(last->gradient_norm), fmt::format("{:.3f}", seconds)});
  row.append_to(run.metrics_file());
}

CsvTable metrics_until(const RunDirectory& run, Index step) {
  CsvTable metrics = table_until(run, run.metrics_file(), step, 1);
  require(metrics.columns() == kMetrics, "[run] {} should have the columns {}, it has {}",
          run.metrics_file().string(), fmt::join(kMetrics, ","), fmt::join(metrics.columns(), ","));
  return metrics;
}

CsvTable heads_until(const RunDirectory& run, Index step) {
  const ModelConfig& model = run.config().model;
  return table_until(run, run.heads_file(), step, holds_patterns(model) ? model.layers * model.heads : 0);
}

namespace {

/// `until` is the table up to a step, checked.
CsvTable whole_table(const RunDirectory& run, const std::filesystem::path& file,
                     CsvTable (*until)(const RunDirectory& run, Index step)) {
  // Asked for first: a run that goes on meanwhile writes the rows before the checkpoint.
  const std::vector<Index> steps = run.checkpoint_steps();
  if (!std::filesystem::exists(file)) return CsvTable({});
  if (!steps.empty()) until(run, steps.back());
  return CsvTable::read(file);
}

}  // namespace

CsvTable whole_metrics(const RunDirectory& run) {
  return whole_table(run, run.metrics_file(), metrics_until);
}

CsvTable whole_heads(const RunDirectory& run) { return whole_table(run, run.heads_file(), heads_until); }

double cut_tables(const RunDirectory& run, Index step) {
  if (step == 0) {
    for (const auto& file : {run.metrics_file(), run.heads_file()}) std::filesystem::remove(file);
    return 0;
  }
  const CsvTable metrics = metrics_until(run, step);
  if (std::filesystem::exists(run.heads_file())) heads_until(run, step).write(run.heads_file());
  metrics.write(run.metrics_file());
  return metrics.number(metrics.rows() - 1, "seconds");
}

std::vector<ScoreAt> ring_scores(const RunDirectory& run) {
  const std::string& name = run.config().train.ring_score;
  const std::filesystem::path file = name == "accuracy_induction" ? run.metrics_file() : run.heads_file();
  std::vector<ScoreAt> scores;
  if (!std::filesystem::exists(file)) return scores;
  const CsvTable table = CsvTable::read(file);
  for (Index row = 0; row < table.rows(); ++row) {
    const ScoreAt at{table.number(row, "step"), table.number(row, name)};
    if (scores.empty() || scores.back().step != at.step)
      scores.push_back(at);
    else
      scores.back().score = std::fmax(scores.back().score, at.score);
  }
  return scores;
}

}  // namespace tapehead
