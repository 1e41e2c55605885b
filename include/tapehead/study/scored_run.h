/// A run whose heads are scored at every evaluation, into heads.csv.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tapehead/interp/head_scores.h"
#include "tapehead/train/joint_run.h"
#include "tapehead/train/run.h"

namespace tapehead {

/// The columns of heads.csv: step, layer, head, the scores of kScores, and k_composition, the largest score
/// by which the head's keys compose with an earlier head's output (see composition.h), empty in layer 0.
std::vector<std::string> head_columns();

/// As resume_run; throws Error too if the run's heads.csv is gone, which would then begin in the middle, or
/// has other columns.
Trainer resume_scored_run(const RunDirectory& run, const Workers& workers);

/// Every head's scores at the evaluation just made.
using ScoresObserver = std::function<void(const std::vector<HeadScores>&)>;

/// As train_run, with a row for every head in heads.csv after each evaluation. Once these are written,
/// `scored` is called and then `observer`. A model that holds no patterns has no scores: its table stays
/// empty.
bool train_scored_run(Trainer& trainer, const RunDirectory& run, const RunObserver& observer = {},
                      const ScoresObserver& scored = {});

/// What the other ranks do while rank 0 does train_scored_run. As follow_run.
bool follow_scored_run(Trainer& trainer, const std::function<bool()>& should_stop);

}  // namespace tapehead
