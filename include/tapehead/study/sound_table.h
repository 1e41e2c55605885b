/// A run's table, looked over before somebody trusts what it says.
#pragma once

#include <string_view>

#include "tapehead/train/csv.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// The table of kRunTables; one without rows where the run has none yet. Throws Error, naming the file, for
/// other columns than this program writes, for a cell that is no number where one belongs, for a layer or a
/// head that the model has not, and for a training's table from which evaluations are missing.
CsvTable sound_table(const RunDirectory& run, std::string_view name);

}  // namespace tapehead
