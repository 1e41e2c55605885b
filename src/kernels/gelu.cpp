#include "tapehead/kernels/gelu.h"

#include <numbers>

#include "tapehead/kernels/lanes.h"

namespace tapehead::kernels {

namespace {

constexpr Real kRootTwoOverPi = static_cast<Real>(std::numbers::inv_sqrtpi * std::numbers::sqrt2);
constexpr Real kCubic = static_cast<Real>(0.044715);
constexpr Real kRootHalf = static_cast<Real>(1 / std::numbers::sqrt2);
constexpr Real kDensityAtZero = static_cast<Real>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);

}  // namespace

void gelu_forward(Real* y, const Real* x, GeluForm form, Index count) {
  const Real half = static_cast<Real>(0.5);
  for_each_lanes(count, [&](Index i, Index lanes) {
    const Lanes v = load(x + i, lanes);
    const Lanes share = form == GeluForm::tanh ? xsimd::tanh(kRootTwoOverPi * (v + kCubic * v * v * v))
                                               : xsimd::erf(v * kRootHalf);
    store(y + i, half * v * (Real{1} + share), lanes);
  });
}

void gelu_backward(Sink dx, const Real* dy, const Real* x, GeluForm form, Index count) {
  const Real half = static_cast<Real>(0.5);
  for_each_lanes(count, [&](Index i, Index lanes) {
    const Lanes v = load(x + i, lanes);
    Lanes slope;
    if (form == GeluForm::tanh) {
      // y = v/2 (1 + tanh u), u = sqrt(2/π) (v + 0.044715 v³)
      const Lanes t = xsimd::tanh(kRootTwoOverPi * (v + kCubic * v * v * v));
      const Lanes du = kRootTwoOverPi * (Real{1} + 3 * kCubic * v * v);
      slope = half * (Real{1} + t) + half * v * (Real{1} - t * t) * du;
    } else {
      // y = v Φ(v), so y' = Φ(v) + v φ(v)
      slope = half * (Real{1} + xsimd::erf(v * kRootHalf)) + v * kDensityAtZero * xsimd::exp(-half * v * v);
    }
    put(dx + i, load(dy + i, lanes) * slope, lanes);
  });
}

}  // namespace tapehead::kernels
