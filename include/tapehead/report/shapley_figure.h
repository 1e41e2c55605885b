/// Who does a layer's work: every head's share beside what it costs alone.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// A plot a layer: for every head its Shapley value beside its ablation alone, with 95 % intervals, and its
/// share; the whole layer's change as a line; the strongest interactions in words. `shapley` and
/// `interactions` are tables as shapley_table and interactions_table make them; of several kinds of ablation
/// the first is drawn.
Figure shapley_figure(const CsvTable& shapley, const CsvTable& interactions, const Config& config,
                      const FigureSize& size = kPageSize);

}  // namespace tapehead
