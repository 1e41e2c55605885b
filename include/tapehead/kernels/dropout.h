/// Inverted dropout with a mask drawn by the caller.
#pragma once

#include <cstdint>

#include "tapehead/base/number.h"

namespace tapehead::kernels {

/// y = x * scale where kept, else 0; scale is 1/(1 - p), and unused when nothing is kept.
void dropout_forward(Real* y, const Real* x, const std::uint8_t* kept, Real scale, Index count);

/// dx += dy * scale where kept.
void dropout_backward(Real* dx, const Real* dy, const std::uint8_t* kept, Real scale, Index count);

}  // namespace tapehead::kernels
