/// What cannot be beaten, behind the losses of a figure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapehead/report/line_ends.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// The floors of one kind of position (a column of a run's floors.csv) as thin lines in `tint`: parts of a
/// plot command, each with a comma after it; their labels, in `colour`, are added to `labels`. Of the best
/// predictors on induction positions each has a line, on others only the one that sees everything; chance,
/// which every figure has, has none. In a narrow figure the labels leave it to a remark that they are floors.
std::string floor_lines(const CsvTable& floors, std::string_view column, std::string_view colour,
                        std::string_view tint, std::vector<EndLabel>& labels, bool is_narrow);

/// "guessing: ln 64 = 4.16", at that loss, or shorter in a narrow figure.
EndLabel chance_label(Index vocabulary, bool is_narrow);

}  // namespace tapehead
