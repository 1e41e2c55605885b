/// A linear map of its own for every head.
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

struct HeadLinearSizes {
  Index rows;
  Index heads;       ///< H
  Index head_width;  ///< D
};

/// y = x Wᵀ head by head, for x and y (rows, H*D) and weights (H*D, D): rows hD, ..., (h+1)D - 1 are head
/// h's.
void head_linear_forward(Real* y, const Real* x, const Real* weight, HeadLinearSizes sizes);

/// Whichever of dx and dweight is not null.
void head_linear_backward(Sink dx, Sink dweight, const Real* dy, const Real* x, const Real* weight,
                          HeadLinearSizes sizes);

}  // namespace tapehead::kernels
