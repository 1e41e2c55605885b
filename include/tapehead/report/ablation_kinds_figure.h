/// Several kinds of ablation, side by side.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// A group of bars a component, a bar a kind, with 95 % intervals: above the change in loss on induction
/// positions, below that on noise. Where the interval of a kind does not meet that of one to the left (of
/// zero, mean and resample), or the sign is another, a mark stands behind the number. `ablations` is a table
/// as ablation_table makes it, with the same components for every kind. Throws Error where they differ.
Figure ablation_kinds_figure(const CsvTable& ablations, const Config& config,
                             const FigureSize& size = kPageSize);

/// The kinds in a table, each once, in the order of their first rows.
std::vector<std::string> kinds_in(const CsvTable& ablations);

}  // namespace tapehead
