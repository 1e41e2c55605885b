/// Softmax over rows of numbers.
#pragma once

#include "tapehead/base/number.h"

namespace tapehead::kernels {

/// log sum_k exp(s_k) in two parts, since their sum would round the second away beside a large first.
struct LogTotal {
  Real largest;   ///< max_k s_k
  Real log_rest;  ///< log sum_k exp(s_k - largest)
};

/// p_j = exp(s_j - max) / sum_k exp(s_k - max) for one row of n >= 1 scores; p may be s itself. Scores of
/// -infinity get weight 0; a row of nothing else gives NaN, so that it is seen.
LogTotal softmax_row(Real* p, const Real* s, Index n);

/// ds_j += p_j (dp_j - sum_k p_k dp_k) for one row.
void softmax_row_backward(Real* ds, const Real* dp, const Real* p, Index n);

}  // namespace tapehead::kernels
