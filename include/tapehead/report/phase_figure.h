/// Where in a grid of two or three fields heads form, and when.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tapehead/report/sheet.h"
#include "tapehead/report/style.h"
#include "tapehead/study/censored.h"
#include "tapehead/study/grid.h"

namespace tapehead {

/// The runs of one setting.
struct PhaseCell {
  GridPoint point;
  std::vector<Censored> runs;  ///< the step at which each formed, or its last step
};

struct PhaseCaption {
  std::string subtitle;
  std::vector<ColouredWords> remarks = {};
};

/// Whether cells of so many fields can be drawn.
constexpr bool has_phase_figure(std::size_t fields) { return fields == 2 || fields == 3; }

/// Maps of the share of runs that form, and below of the median step, with the runs that did not counted as
/// later than all; grey where that is half of them or more. The first field goes up, the second to the right,
/// and each value of a third has maps of its own, side by side. Settings without a cell stay empty. Throws
/// Error for no cell, one without runs, and cells of another number of fields than two or three, or of
/// different ones.
Figure phase_figure(std::span<const PhaseCell> cells, const PhaseCaption& caption,
                    const FigureSize& size = kPageSize);

}  // namespace tapehead
