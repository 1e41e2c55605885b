/// The eigenvalues of every head's full OV circuit: to the right where the head copies.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Layers are rows and heads columns of planes; in each, the eigenvalues of W_E W_V W_O W_U over the largest
/// of their absolute values, with the unit circle and the share Σ Re λ / Σ |λ|. `eigenvalues` is a table as
/// eigenvalue_table makes it.
Figure eigenvalue_figure(const CsvTable& eigenvalues, const Config& config,
                         const FigureSize& size = kPageSize);

}  // namespace tapehead
