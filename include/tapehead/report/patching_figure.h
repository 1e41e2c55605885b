/// What of a clean run restores a corrupted one: the grids of a table of patchings as heat maps.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// One map a grid (site, by and receiver), one below the other: columns are heads or positions, rows layers
/// or heads. White is no effect, blue restores, orange makes worse; numbers where cells have room. Positions
/// that play a part are marked above their column. `patchings` is a table as patching_table makes it.
Figure patching_figure(const CsvTable& patchings, const Config& config, const FigureSize& size = kPageSize);

}  // namespace tapehead
