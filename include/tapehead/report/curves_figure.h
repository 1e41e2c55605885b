/// Several runs in one figure, mostly one config with many seeds: what is the rule, and what one run's
/// chance.
#pragma once

#include <span>
#include <vector>

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Above, the accuracy on induction positions, with the runs that never got above 50 % in a colour of their
/// own; below, the losses by kind of position, with ln V. A thin line a run, the median in bold over a band
/// from quartile to quartile; where it ends before the longest run, its label says at which step. `runs` are
/// metrics tables, a config each; `floors` is the floors.csv that they have in common, without rows where
/// there is none. Throws Error for no run, and for a table of metrics without rows.
Figure curves_figure(std::span<const CsvTable> runs, const CsvTable& floors, std::span<const Config> configs,
                     const FigureSize& size = kPageSize);

}  // namespace tapehead
