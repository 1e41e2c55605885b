/// How much the context helps, over a training.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Above, the in-context-learning score against the step, with its interval; below, the slope
/// d loss / d ln(position) as a map of step and position. Both axes of steps are logarithmic, and so is that
/// of positions; step 0 stands half a doubling before the first one after it. `context` is a table as
/// context_table makes it; throws Error for one with steps or positions that cannot be.
Figure context_figure(const CsvTable& context, const Config& config, const FigureSize& size = kPageSize);

}  // namespace tapehead
