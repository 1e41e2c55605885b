/// A run whose heads have been ablated one by one, as `tapehead ablate RUN` does it.
#pragma once

#include <optional>

#include "tapehead/study/formation_report.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// Sets every head, all heads of a layer, and every feed-forward output to zero, in the newest checkpoint and
/// on the run's evaluation batch, and writes ablation.csv; where that is there already, of this checkpoint,
/// it is left as it is. A model without layers has none. Throws as run_checkpoint and task_of do.
void ablate_run(const RunDirectory& run, int threads);

/// What the loss on induction positions does, in nats, when one head is set to zero.
struct AblationChanges {
  std::optional<double> without_previous_token;  ///< the head that scores highest as a previous-token head
  std::optional<double> without_induction;       ///< the one that scores highest as an induction head
  std::optional<double> largest;                 ///< any head
};

/// From the run's ablation.csv and a report of it; empty where there is no table, or no heads were zeroed.
/// Throws Error for a table that cannot be read.
AblationChanges ablation_changes(const RunDirectory& run, const FormationReport& report);

}  // namespace tapehead
