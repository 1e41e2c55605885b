/// Tables as figures may draw them.
#pragma once

#include "tapehead/train/csv.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// The table. Throws Error, naming cell and file, for a number that no axis can hold.
CsvTable drawable(CsvTable table);

/// A run's metrics, as far as they go. Throws as above, and for a table that cannot be read.
CsvTable drawable_metrics(const RunDirectory& run);

}  // namespace tapehead
