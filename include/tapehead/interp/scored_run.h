/// A run whose heads are scored at every evaluation, into heads.csv.
#pragma once

#include "tapehead/train/run.h"

namespace tapehead {

/// As resume_run; throws Error too if the run's heads.csv is gone, which would then begin in the middle.
Trainer resume_scored_run(const RunDirectory& run, int threads);

/// As train_run, with a row for every head in heads.csv after each evaluation: step, layer, head, and the
/// scores of kScores. `observer` is called after the scores of an evaluation are written.
bool train_scored_run(Trainer& trainer, const RunDirectory& run, const RunObserver& observer = {});

}  // namespace tapehead
