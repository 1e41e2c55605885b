#include "tapehead/kernels/recurrence.h"

#include <algorithm>

#include "tapehead/kernels/lanes.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/tensor/memory.h"

namespace tapehead::kernels {

void recurrence_forward(Real* states, const Real* x, const Real* weight, RecurrenceSizes s) {
  const Index row = s.length * s.width;  // from a sequence to the next, at one position
  // Uᵀ is read again at every step: where several sequences share a product, it is transposed once for all.
  const bool transposed = s.batch > 1;
  const Buffer across = allocate(transposed ? s.width * s.width : 0);
  if (transposed)
    for (Index i = 0; i < s.width; ++i)
      for (Index j = 0; j < s.width; ++j)
        across[static_cast<std::size_t>(j * s.width + i)] = weight[i * s.width + j];
  const Matrix u = transposed ? Matrix{across.get(), s.width} : Matrix{weight, s.width, true};
  for (Index t = 0; t < s.length; ++t) {
    const Index at = t * s.width;
    for (Index b = 0; b < s.batch; ++b) std::copy_n(x + b * row + at, s.width, states + b * row + at);
    if (t > 0) gemm(states + at, row, {states + at - s.width, row}, u, s.batch, s.width, s.width, 1, 1);
    for (Index b = 0; b < s.batch; ++b) {
      Real* const state = states + b * row + at;
      for_each_lanes(s.width, [&](Index j, Index lanes) {
        store(state + j, xsimd::tanh(load(state + j, lanes)), lanes);
      });
    }
  }
}

void recurrence_backward(Sink dx, Sink dweight, const Real* dstates, const Real* states, const Real* weight,
                         RecurrenceSizes s) {
  const Index row = s.length * s.width;
  // d of what tanh was taken of: that of x_t, and what reaches states_{t-1} by U
  const Buffer inner = allocate(s.batch * row);
  Real* const dinner = inner.get();
  std::copy_n(dstates, s.batch * row, dinner);
  for (Index t = s.length - 1; t >= 0; --t) {
    const Index at = t * s.width;
    // inner_{t+1} = x_{t+1} + states_t Uᵀ
    if (t + 1 < s.length)
      gemm(dinner + at, row, {dinner + at + s.width, row}, {weight, s.width}, s.batch, s.width, s.width, 1,
           1);
    // states = tanh(inner), so its slope is 1 - states²
    for (Index b = 0; b < s.batch; ++b)
      for_each_lanes(s.width, [&](Index j, Index lanes) {
        const Index i = b * row + at + j;
        const Lanes state = load(states + i, lanes);
        store(dinner + i, load(dinner + i, lanes) * (Real{1} - state * state), lanes);
      });
  }
  if (dx)
    for_each_lanes(s.batch * row, [&](Index i, Index lanes) { put(dx + i, load(dinner + i, lanes), lanes); });
  if (!dweight) return;
  for (Index b = 0; b < s.batch; ++b)
    gemm(dweight.data, s.width, {dinner + b * row + s.width, s.width, true}, {states + b * row, s.width},
         s.width, s.width, s.length - 1, 1, b == 0 ? dweight.keep : 1);
}

}  // namespace tapehead::kernels
