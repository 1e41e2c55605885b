/// The tables that a run writes as it trains, and how they are gone on with.
#pragma once

#include "tapehead/train/csv.h"
#include "tapehead/train/evaluate.h"
#include "tapehead/train/run_directory.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

/// Adds the row of an evaluation to metrics.csv. `last` is the update that led there, null for none.
void append_metrics(const RunDirectory& run, const Trainer& trainer, const Evaluation& evaluation,
                    const Trainer::StepReport* last, double seconds);

/// metrics.csv, or heads.csv if it is there, up to `step`. Throws Error unless it has all rows of every
/// evaluation until then, in their order; of those up to a fork's first step, which are its parent's, only
/// the order is known.
CsvTable metrics_until(const RunDirectory& run, Index step);
CsvTable heads_until(const RunDirectory& run, Index step);

/// metrics.csv, or heads.csv if it is there, as it stands; one without rows where there is none. Throws Error
/// unless it has all rows of every evaluation up to the run's newest checkpoint.
CsvTable whole_metrics(const RunDirectory& run);
CsvTable whole_heads(const RunDirectory& run);

/// Cuts the tables back to where a trainer stands, and returns the seconds it had taken until there. A run at
/// step 0 begins them anew. Throws Error as above.
double cut_tables(const RunDirectory& run, Index step);

/// A score at an evaluation.
struct ScoreAt {
  double step;
  double score;
};
/// What the run's ring_score was at every evaluation, from its tables; the best head's, where heads have it.
std::vector<ScoreAt> ring_scores(const RunDirectory& run);

}  // namespace tapehead
