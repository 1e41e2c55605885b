/// Root-mean-square normalisation of rows (Zhang and Sennrich 2019, equation 4).
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

/// y = x / sqrt(mean of x² + epsilon) * gain for each of `rows` rows; `scale` (rows) keeps the factor.
void rms_norm_forward(Real* y, Real* scale, const Real* x, const Real* gain, Real epsilon, Index rows,
                      Index width);

/// Whichever of dx and dgain is not null; dgain is added to.
void rms_norm_backward(Sink dx, Real* dgain, const Real* dy, const Real* x, const Real* gain,
                       const Real* scale, Index rows, Index width);

}  // namespace tapehead::kernels
