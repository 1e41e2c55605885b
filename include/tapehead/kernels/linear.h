/// The linear layer y = x Wᵀ + b.
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

/// y (rows, outputs) from x (rows, inputs), weight (outputs, inputs) and bias (outputs) or null.
void linear_forward(Real* y, const Real* x, const Real* weight, const Real* bias, Index rows, Index inputs,
                    Index outputs);

/// Whichever of dx, dweight, dbias is not null; dbias is added to.
void linear_backward(Sink dx, Sink dweight, Real* dbias, const Real* dy, const Real* x, const Real* weight,
                     Index rows, Index inputs, Index outputs);

}  // namespace tapehead::kernels
