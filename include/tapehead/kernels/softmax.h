/// Softmax over rows of numbers.
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

/// sum_k exp(s_k) in two parts, since it may be too large for a number: exp(largest) * sum.
struct ExpTotal {
  Real largest;  ///< max_k s_k
  Real sum;      ///< sum_k exp(s_k - largest)
};

/// p_j = exp(s_j - max) / sum_k exp(s_k - max) for one row of n >= 1 scores; p may be s itself. Scores of
/// -infinity get weight 0; a row of nothing else gives NaN, so that it is seen.
ExpTotal softmax_row(Real* p, const Real* s, Index n);

/// ds_j from p_j (dp_j - sum_k p_k dp_k), for one row.
void softmax_row_backward(Sink ds, const Real* dp, const Real* p, Index n);

}  // namespace tapehead::kernels
