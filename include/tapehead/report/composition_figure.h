/// Which later head reads what which earlier head writes, by its queries, keys and values.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Three maps side by side, Q, K and V: a row is an earlier head, a column a later one, white what random
/// matrices of the same shapes score. `composition` is a table as composition_table makes it, with rows.
Figure composition_figure(const CsvTable& composition, const Config& config,
                          const FigureSize& size = kPageSize);

}  // namespace tapehead
