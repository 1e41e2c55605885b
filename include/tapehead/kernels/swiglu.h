/// The gated unit of SwiGLU (Shazeer 2020, equation 6), with SiLU(g) = g / (1 + exp(-g)).
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

/// y = SiLU(gate) * x, number by number.
void swiglu_forward(Real* y, const Real* gate, const Real* x, Index count);

/// Whichever of dgate and dx is not null.
void swiglu_backward(Sink dgate, Sink dx, const Real* dy, const Real* gate, const Real* x, Index count);

}  // namespace tapehead::kernels
