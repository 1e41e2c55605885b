#include "tapehead/kernels/smear.h"

namespace tapehead::kernels {

namespace {

/// Calls f(head, where its part of a key begins, whether there is a key before it), for all keys.
template <class F>
void for_each_key(const std::uint8_t* visible, SmearSizes s, const F& f) {
  const Index width = s.heads * s.head_width;
  for (Index row = 0; row < s.batch * s.length; ++row) {
    const bool follows = row % s.length > 0 && (visible == nullptr || visible[row - 1] != 0);
    for (Index h = 0; h < s.heads; ++h) f(h, row * width + h * s.head_width, follows);
  }
}

}  // namespace

void smear_forward(Real* y, const Real* x, const Real* share, const std::uint8_t* visible, SmearSizes s) {
  const Index width = s.heads * s.head_width;
  for_each_key(visible, s, [&](Index h, Index at, bool follows) {
    for (Index d = at; d < at + s.head_width; ++d)
      y[d] = follows ? share[h] * x[d] + (1 - share[h]) * x[d - width] : x[d];
  });
}

void smear_backward(Real* dx, Real* dshare, const Real* dy, const Real* x, const Real* share,
                    const std::uint8_t* visible, SmearSizes s) {
  const Index width = s.heads * s.head_width;
  for_each_key(visible, s, [&](Index h, Index at, bool follows) {
    // y_t = share x_t + (1 - share) x_{t-1}, or x_t
    Real along = 0;
    for (Index d = at; d < at + s.head_width; ++d) {
      if (follows) along += dy[d] * (x[d] - x[d - width]);
      if (dx == nullptr) continue;
      dx[d] += follows ? share[h] * dy[d] : dy[d];
      if (follows) dx[d - width] += (1 - share[h]) * dy[d];
    }
    if (dshare != nullptr) dshare[h] += along;
  });
}

}  // namespace tapehead::kernels
