/// Several runs in one figure, mostly one config with many seeds: what is the rule, and what one run's
/// chance.
#pragma once

#include <span>
#include <vector>

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// A value over several runs, evaluation by evaluation.
struct Band {
  std::vector<double> steps;
  std::vector<double> lower;  ///< quartile
  std::vector<double> median;
  std::vector<double> upper;  ///< quartile
};

/// Quartiles of a column of metrics tables, at the steps at which every run that has the column has a value;
/// no steps where none has.
Band band_of(std::span<const CsvTable> runs, std::string_view column);

/// Above, the accuracy on induction positions, with the runs that never got above 50 % in a colour of their
/// own; below, the losses by kind of position, with ln V. A thin line a run, the median in bold over a band
/// from quartile to quartile; where it ends before the longest run, its label says at which step. `runs` are
/// metrics tables, a config each; `floors` is the floors.csv that they have in common, without rows where
/// there is none. Throws Error for no run, and for a table of metrics without rows.
Figure curves_figure(std::span<const CsvTable> runs, const CsvTable& floors, std::span<const Config> configs,
                     const FigureSize& size = kPageSize);

}  // namespace tapehead
