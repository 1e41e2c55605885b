#include "tapehead/kernels/smear.h"

#include <algorithm>

namespace tapehead::kernels {

namespace {

/// Calls f(head, where its part of a key begins, for all keys that have one before them).
template <class F>
void for_each_later_key(SmearSizes s, const F& f) {
  const Index width = s.heads * s.head_width;
  for (Index b = 0; b < s.batch; ++b)
    for (Index t = 1; t < s.length; ++t)
      for (Index h = 0; h < s.heads; ++h) f(h, (b * s.length + t) * width + h * s.head_width);
}

}  // namespace

void smear_forward(Real* y, const Real* x, const Real* share, SmearSizes s) {
  const Index width = s.heads * s.head_width;
  for (Index b = 0; b < s.batch; ++b)
    std::copy_n(x + b * s.length * width, s.length == 0 ? 0 : width, y + b * s.length * width);
  for_each_later_key(s, [&](Index h, Index at) {
    for (Index d = at; d < at + s.head_width; ++d) y[d] = share[h] * x[d] + (1 - share[h]) * x[d - width];
  });
}

void smear_backward(Real* dx, Real* dshare, const Real* dy, const Real* x, const Real* share, SmearSizes s) {
  const Index width = s.heads * s.head_width;
  // y_0 = x_0
  if (dx != nullptr)
    for (Index b = 0; b < s.batch; ++b)
      for (Index d = 0; d < (s.length == 0 ? 0 : width); ++d)
        dx[b * s.length * width + d] += dy[b * s.length * width + d];
  for_each_later_key(s, [&](Index h, Index at) {
    // y_t = share x_t + (1 - share) x_{t-1}
    Real along = 0;
    for (Index d = at; d < at + s.head_width; ++d) {
      along += dy[d] * (x[d] - x[d - width]);
      if (dx == nullptr) continue;
      dx[d] += share[h] * dy[d];
      dx[d - width] += (1 - share[h]) * dy[d];
    }
    if (dshare != nullptr) dshare[h] += along;
  });
}

}  // namespace tapehead::kernels
