/// What each part of a model adds to the right token's logit.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Two bars a component, on induction and on noise positions: its part of the right token's logit above what
/// it gives to all tokens on average. The last group is their sum. `attribution` is a table as
/// attribution_table makes it, with rows.
Figure attribution_figure(const CsvTable& attribution, const Config& config,
                          const FigureSize& size = kPageSize);

}  // namespace tapehead
