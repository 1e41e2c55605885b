/// Several sweeps in one figure: what the rule of each is, without its runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tapehead/report/style.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// As many have a colour of their own.
inline constexpr std::size_t kMostCurveSweeps = 6;

struct RunsOfSweep {
  std::string label;
  std::vector<CsvTable> metrics;  ///< a table a run
};

/// A colour a sweep, after six with another dash: the median over its runs, over a band from quartile to
/// quartile. Above, the accuracy on induction positions, if any sweep has it; below, the loss on all
/// positions. `of` is what there are several of, for the title. Throws Error for no sweep, for one without
/// runs, and for a run without an evaluation.
Figure sweep_curves_figure(std::span<const RunsOfSweep> sweeps, const std::string& subtitle,
                           const FigureSize& size = kPageSize, std::string_view of = "sweeps");

}  // namespace tapehead
