/// Rotary positions: pairs of numbers turned by an angle that grows with the position (Su et al. 2021,
/// equation 34).
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

struct RotarySizes {
  Index batch;       ///< B
  Index length;      ///< T
  Index heads;       ///< H
  Index head_width;  ///< D, even
};

/// In each head's part of row t of x (B, T, H*D), the numbers 2i and 2i + 1 are turned by an angle whose sine
/// and cosine stand in columns 2i and 2i + 1 of row t of `angles` (T, D).
void rotary_forward(Real* y, const Real* x, const Real* angles, RotarySizes sizes);

void rotary_backward(Sink dx, const Real* dy, const Real* angles, RotarySizes sizes);

}  // namespace tapehead::kernels
