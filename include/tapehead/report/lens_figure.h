/// What could be read out of the residual stream after every layer.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Above, the loss by kind of position against the place of read-out, with ln V; below, the accuracy on
/// induction positions. `lens` is a table as lens_table makes it.
Figure lens_figure(const CsvTable& lens, const Config& config, const FigureSize& size = kPageSize);

}  // namespace tapehead
