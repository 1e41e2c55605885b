/// What a sweep came to, a row a run.
#pragma once

#include <span>

#include "tapehead/study/formation_report.h"
#include "tapehead/study/sweep.h"

namespace tapehead {

/// The runs' reports, as far as they have been evaluated at least once; of a task in which nothing is copied
/// too. Throws Error for tables that cannot be read.
std::vector<std::optional<FormationReport>> sweep_reports(std::span<const Setting> settings);

/// sweep.csv: run (its folder's name), seed (of the weights), status, step (of the last evaluation), formed
/// (1 if the accuracy on induction positions was above 50 %, else 0), onset, half, done, width, the final
/// losses and accuracy, and the final score of the best head for each score that is followed. What has not
/// happened by `step`, and what is not known, is an empty cell; of tasks in which nothing is copied, so is
/// formation.
CsvTable sweep_table(std::span<const Setting> settings, std::span<const SweepResult> results,
                     std::span<const std::optional<FormationReport>> reports);

}  // namespace tapehead
