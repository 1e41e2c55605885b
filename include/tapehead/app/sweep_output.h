/// What `sweep` leaves behind and prints: the table, the figures, and how the runs came out.
#pragma once

#include <filesystem>
#include <vector>

#include "tapehead/study/sweep.h"

namespace tapehead::app {

/// Writes sweep.csv, and prints what finished runs came to: quartiles over all, or of a grid a line a
/// setting. Draws the figures, unless `others_go_on` and runs are left that other jobs are to do.
void report_sweep(const std::vector<Setting>& settings, const std::vector<SweepResult>& results,
                  const std::filesystem::path& folder, bool others_go_on);

/// The exit status, once what is amiss is said.
int status_of_sweep(const std::vector<Setting>& settings, const std::vector<SweepResult>& results);

}  // namespace tapehead::app
