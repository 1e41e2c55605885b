#include "tapehead/kernels/linear.h"

#include <algorithm>

#include "tapehead/tensor/gemm.h"

namespace tapehead::kernels {

void linear_forward(Real* y, const Real* x, const Real* weight, const Real* bias, Index rows, Index inputs,
                    Index outputs) {
  if (bias != nullptr)
    for (Index i = 0; i < rows; ++i) std::copy_n(bias, outputs, y + i * outputs);
  const Real keep = bias != nullptr ? 1 : 0;
  gemm(y, outputs, {x, inputs}, {weight, inputs, true}, rows, outputs, inputs, 1, keep);
}

void linear_backward(Sink dx, Sink dweight, Real* dbias, const Real* dy, const Real* x, const Real* weight,
                     Index rows, Index inputs, Index outputs) {
  // y = x Wᵀ
  if (dx) gemm(dx.data, inputs, {dy, outputs}, {weight, inputs}, rows, inputs, outputs, 1, dx.keep);
  if (dweight)
    gemm(dweight.data, inputs, {dy, outputs, true}, {x, inputs}, outputs, inputs, rows, 1, dweight.keep);
  // y += b
  if (dbias != nullptr)
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < outputs; ++j) dbias[j] += dy[i * outputs + j];
}

}  // namespace tapehead::kernels
