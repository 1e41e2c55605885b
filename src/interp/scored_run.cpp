#include "tapehead/interp/scored_run.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tapehead/base/require.h"
#include "tapehead/interp/head_scores.h"
#include "tapehead/train/csv.h"

namespace tapehead {

namespace {

using Scores = std::vector<HeadScores>;

void append_head_scores(const RunDirectory& run, const Trainer& trainer, const Scores& scores) {
  std::vector<std::string> columns{"step", "layer", "head"};
  for (const ScoreDefinition& score : kScores) columns.emplace_back(score.name);
  CsvTable table(std::move(columns));
  for (const HeadScores& head : scores) {
    std::vector<std::string> row{std::to_string(trainer.step()), std::to_string(head.layer),
                                 std::to_string(head.head)};
    for (const double value : head.values) row.push_back(csv_cell(value));
    table.add(std::move(row));
  }
  table.append_to(run.heads_file());
}

/// The best head's score of that name; NaN where there is none.
double best_score(const Scores& scores, std::string_view name) {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (const ScoreDefinition& score : kScores)
    if (score.name == name)
      for (const HeadScores& head : scores) best = std::fmax(best, head[score.score]);
  return best;
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
  Scores scores;
  RunObserver scoring = observer;
  scoring.watch.add(patterns);
  scoring.evaluated = [&](const Trainer& at, const Batch& batch, const Evaluation& evaluation) {
    scores = score_heads(patterns, at.config().model, batch);
    append_head_scores(run, at, scores);
    patterns.clear();
    if (observer.evaluated) observer.evaluated(at, batch, evaluation);
  };
  scoring.ring_score = [&] { return best_score(scores, trainer.config().train.ring_score); };
  return train_run(trainer, run, scoring);
}

}  // namespace tapehead
