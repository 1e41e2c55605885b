#include "tapehead/kernels/rotary.h"

namespace tapehead::kernels {

namespace {

/// Calls f(place of a pair in x, sine, cosine).
template <class F>
void for_each_pair(const Real* angles, RotarySizes s, const F& f) {
  Index at = 0;
  for (Index row = 0; row < s.batch * s.length; ++row) {
    const Real* turn = angles + row % s.length * s.head_width;
    for (Index h = 0; h < s.heads; ++h)
      for (Index i = 0; i < s.head_width; i += 2, at += 2) f(at, turn[i], turn[i + 1]);
  }
}

}  // namespace

void rotary_forward(Real* y, const Real* x, const Real* angles, RotarySizes sizes) {
  for_each_pair(angles, sizes, [&](Index at, Real sine, Real cosine) {
    y[at] = x[at] * cosine - x[at + 1] * sine;
    y[at + 1] = x[at] * sine + x[at + 1] * cosine;
  });
}

void rotary_backward(Sink dx, const Real* dy, const Real* angles, RotarySizes sizes) {
  const auto put = [&](Index at, Real value) { dx.data[at] = dx.keep == 0 ? value : dx.data[at] + value; };
  for_each_pair(angles, sizes, [&](Index at, Real sine, Real cosine) {
    // y = x turned; dx is dy turned back
    put(at, dy[at] * cosine + dy[at + 1] * sine);
    put(at + 1, dy[at + 1] * cosine - dy[at] * sine);
  });
}

}  // namespace tapehead::kernels
