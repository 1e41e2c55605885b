/// What the loss does without a head, a layer's attention, or a layer's feed-forward output.
#pragma once

#include "tapehead/report/gnuplot.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Two bars an ablation, with 95 % intervals: the change in loss on induction and on noise positions; under
/// them the accuracy that is left. `ablations` is a table as ablation_table makes it, of one kind; `accuracy`
/// is the plain model's on induction positions, NaN if unknown.
/// A table of several kinds makes a bar a kind instead, with marks where zero, mean and resample disagree.
Figure ablation_figure(const CsvTable& ablations, double accuracy, const Config& config);

/// The name under a group of bars: "layer 0\nhead 1", for gnuplot.
std::string component_tic(const CsvTable& ablations, Index row);
/// "; step 2000, 256 sequences", as far as the table tells.
std::string made_of(const CsvTable& table);

}  // namespace tapehead
