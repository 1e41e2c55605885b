/// What a sweep came to, a row a run.
#pragma once

#include <span>

#include "tapehead/study/ablated_run.h"
#include "tapehead/study/formation_report.h"
#include "tapehead/study/sweep.h"

namespace tapehead {

/// What a run's tables tell.
struct RunReport {
  FormationReport formation;
  AblationChanges ablation;
};

/// The runs' reports, as far as they have been evaluated at least once; of a task in which nothing is copied
/// too. Throws Error for tables that cannot be read.
std::vector<std::optional<RunReport>> sweep_reports(std::span<const Setting> settings);

/// sweep.csv: run (its folder, seen from `folder`), setting (the point of the grid, as "model.heads=2"), a
/// column for each field that the grid sweeps, seed (of the weights), status, step (of the last evaluation),
/// formed (1 if the accuracy on induction positions was above 50 %, else 0), onset, half, done, width, the
/// final losses and accuracy, the final score of the best head for each score that is followed, and what the
/// loss on induction positions does, in nats, without the best previous-token head, without the best
/// induction head, and at most without any one head. What has not happened by `step`, and what is not known,
/// is an empty cell; of tasks in which nothing is copied, so is formation.
CsvTable sweep_table(std::span<const Setting> settings, std::span<const SweepResult> results,
                     std::span<const std::optional<RunReport>> reports, const std::filesystem::path& folder);

}  // namespace tapehead
