/// What the loss does without a head, a layer's attention, or a layer's feed-forward output.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Two bars an ablation, with 95 % intervals: the change in loss on induction and on noise positions; under
/// them the accuracy that is left. `ablations` is a table as ablation_table makes it, of one kind; `accuracy`
/// is the plain model's on induction positions, NaN if unknown.
/// A table of several kinds makes a bar a kind instead, with marks where zero, mean and resample disagree.
Figure ablation_figure(const CsvTable& ablations, double accuracy, const Config& config,
                       const FigureSize& size = kPageSize);

/// The name under a group of bars: "layer 0\nhead 1", for gnuplot.
std::string component_tic(const CsvTable& ablations, Index row);
/// The same in short: "0.1", "0 all" or "0 ff".
std::string short_component_tic(const CsvTable& ablations, Index row);
/// Of such a name, in pixels.
double width_of_tic(std::string_view tic);
/// The ablations that a layer has: of every head, all heads, and the feed-forward output.
int components_a_layer(const ModelConfig& model);
/// "; step 2000, 256 sequences", as far as the table tells.
std::string made_of(const CsvTable& table);

}  // namespace tapehead
