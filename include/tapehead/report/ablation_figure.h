/// What the loss does without a head, or without a layer's attention.
#pragma once

#include "tapehead/report/gnuplot.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Two bars an ablation, with 95 % intervals: the change in loss on induction and on noise positions; under
/// them the accuracy that is left. `ablations` is a table as ablation_table makes it; `accuracy` is the plain
/// model's on induction positions, NaN if unknown.
Figure ablation_figure(const CsvTable& ablations, double accuracy, const Config& config);

}  // namespace tapehead
