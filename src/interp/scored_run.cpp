#include "tapehead/interp/scored_run.h"

#include <utility>

#include "tapehead/base/require.h"
#include "tapehead/interp/head_scores.h"
#include "tapehead/train/csv.h"

namespace tapehead {

namespace {

void append_head_scores(const RunDirectory& run, const Trainer& trainer, const Recorder& patterns,
                        const Batch& batch) {
  std::vector<std::string> columns{"step", "layer", "head"};
  for (const ScoreDefinition& score : kScores) columns.emplace_back(score.name);
  CsvTable table(std::move(columns));
  for (const HeadScores& head : score_heads(patterns, trainer.config().model, batch)) {
    std::vector<std::string> row{std::to_string(trainer.step()), std::to_string(head.layer),
                                 std::to_string(head.head)};
    for (const double value : head.values) row.push_back(csv_cell(value));
    table.add(std::move(row));
  }
  table.append_to(run.heads_file());
}

}  // namespace

Trainer resume_scored_run(const RunDirectory& run, int threads) {
  Trainer trainer = resume_run(run, threads);
  require(trainer.step() == 0 || std::filesystem::exists(run.heads_file()),
          "[run] {} is missing, and would begin at step {}; put it back, or start another run",
          run.heads_file().string(), trainer.step());
  return trainer;
}

bool train_scored_run(Trainer& trainer, const RunDirectory& run, const RunObserver& observer) {
  Recorder patterns = pattern_recorder(trainer.config().model);
  RunObserver scoring = observer;
  scoring.watch.add(patterns);
  scoring.evaluated = [&](const Trainer& at, const Batch& batch, const Evaluation& evaluation) {
    append_head_scores(run, at, patterns, batch);
    patterns.clear();
    if (observer.evaluated) observer.evaluated(at, batch, evaluation);
  };
  return train_run(trainer, run, scoring);
}

}  // namespace tapehead
