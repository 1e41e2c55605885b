#include "tapehead/kernels/head_linear.h"

#include "tapehead/tensor/gemm.h"

namespace tapehead::kernels {

void head_linear_forward(Real* y, const Real* x, const Real* weight, HeadLinearSizes s) {
  const Index width = s.heads * s.head_width;
  for (Index first = 0; first < width; first += s.head_width)
    gemm(y + first, width, {x + first, width}, {weight + first * s.head_width, s.head_width, true}, s.rows,
         s.head_width, s.head_width, 1, 0);
}

void head_linear_backward(Sink dx, Sink dweight, const Real* dy, const Real* x, const Real* weight,
                          HeadLinearSizes s) {
  const Index width = s.heads * s.head_width;
  for (Index first = 0; first < width; first += s.head_width) {
    const Real* matrix = weight + first * s.head_width;
    // y = x Wᵀ
    if (dx)
      gemm(dx.data + first, width, {dy + first, width}, {matrix, s.head_width}, s.rows, s.head_width,
           s.head_width, 1, dx.keep);
    if (dweight)
      gemm(dweight.data + first * s.head_width, s.head_width, {dy + first, width, true}, {x + first, width},
           s.head_width, s.head_width, s.rows, 1, dweight.keep);
  }
}

}  // namespace tapehead::kernels
