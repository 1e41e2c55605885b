/// What a run's tables hold, and the commands that make them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapehead/train/csv.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// A table of kRunTables in a line: "a row a head and evaluation: its scores". Throws InternalError for
/// another name.
std::string_view about_table(std::string_view name);

/// The words of one call of the program, without its name: {"lens", "runs/induction", "--step", "500"}.
using CommandLine = std::vector<std::string>;

/// The calls that make the run's table of that name again as it stands in `there`, by its columns; of one
/// without rows, those that make it in the usual way; none where the run can have no such table. What only
/// training makes is made by a run beside this one, PATH-again. Throws Error where the columns tell of no
/// way.
std::vector<CommandLine> commands_for_table(const RunDirectory& run, std::string_view name,
                                            const CsvTable& there);

/// The calls as one line to paste into a shell.
std::string shell_text(const std::vector<CommandLine>& lines);

}  // namespace tapehead
