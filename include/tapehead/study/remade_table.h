/// The tables that were made of a run's checkpoints, made again as they say they were made.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tapehead/train/csv.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// The table of that name as the run's checkpoint gives it now; `there` is the one in the run, whose columns
/// say of which step, on how many sequences, and with which options. Nothing for tables that a training
/// writes. Throws Error where what is needed is not there any more.
std::optional<CsvTable> remade_table(const RunDirectory& run, std::string_view name, const CsvTable& there,
                                     int threads);

}  // namespace tapehead
