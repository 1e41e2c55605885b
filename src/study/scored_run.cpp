#include "tapehead/study/scored_run.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tapehead/base/require.h"
#include "tapehead/interp/composition.h"
#include "tapehead/interp/copying.h"
#include "tapehead/interp/head_scores.h"
#include "tapehead/train/csv.h"

namespace tapehead {

namespace {

using Scores = std::vector<HeadScores>;

void append_head_scores(const RunDirectory& run, const Trainer& trainer, const Scores& scores) {
  const std::vector<double> k_composition = k_composition_scores(trainer.model(), trainer.threads());
  CsvTable table(head_columns());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    std::vector<std::string> row{std::to_string(trainer.step()), std::to_string(scores[i].layer),
                                 std::to_string(scores[i].head)};
    for (const double value : scores[i].values) row.push_back(csv_cell(value));
    row.push_back(csv_cell(k_composition[i]));
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

std::vector<std::string> head_columns() {
  std::vector<std::string> columns{"step", "layer", "head"};
  for (const ScoreDefinition& score : kScores) columns.emplace_back(score.name);
  columns.emplace_back("k_composition");
  return columns;
}

Trainer resume_scored_run(const RunDirectory& run, const Workers& workers) {
  Trainer trainer = resume_run(run, workers);
  require(trainer.step() == 0 || std::filesystem::exists(run.heads_file()),
          "[run] {} is missing, and would begin at step {}; put it back, or start another run",
          run.heads_file().string(), trainer.step());
  if (trainer.step() > 0) {
    const std::vector<std::string> columns = CsvTable::read(run.heads_file()).columns();
    require(columns == head_columns(),
            "[run] {} should have the columns {}, it has {}: another version began this run; start another",
            run.heads_file().string(), fmt::join(head_columns(), ","), fmt::join(columns, ","));
  }
  return trainer;
}

bool train_scored_run(Trainer& trainer, const RunDirectory& run, const RunObserver& observer,
                      const ScoresObserver& scored) {
  const ModelConfig& model = trainer.config().model;
  const Batch evaluated_on = evaluation_batch(trainer.config(), trainer.task());
  HeadScorer scorer(model, evaluated_on);
  Scores scores;
  RunObserver scoring = observer;
  if (holds_patterns(model)) scoring.watch.add(scorer);
  scoring.evaluated = [&](const Trainer& at, const Batch& batch, const Evaluation& evaluation) {
    if (holds_patterns(model)) scores = scorer.scores(copying_scores(at.model(), at.threads()));
    append_head_scores(run, at, scores);
    if (scored) scored(scores);
    if (observer.evaluated) observer.evaluated(at, batch, evaluation);
  };
  scoring.ring_score = [&] { return best_score(scores, trainer.config().train.ring_score); };
  return train_run(trainer, run, scoring);
}

bool follow_scored_run(Trainer& trainer, const std::function<bool()>& should_stop) {
  const ModelConfig& model = trainer.config().model;
  const Batch evaluated_on = evaluation_batch(trainer.config(), trainer.task());
  HeadScorer scorer(model, evaluated_on);
  Watch watch;
  if (holds_patterns(model)) watch.add(scorer);
  return follow_run(trainer, watch, should_stop);
}

}  // namespace tapehead
