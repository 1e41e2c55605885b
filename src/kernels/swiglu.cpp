#include "tapehead/kernels/swiglu.h"

#include "tapehead/kernels/lanes.h"

namespace tapehead::kernels {

namespace {

/// By tanh, which does not overflow.
Lanes sigmoid(const Lanes& g) {
  const Real half = static_cast<Real>(0.5);
  return half + half * xsimd::tanh(half * g);
}

}  // namespace

void swiglu_forward(Real* y, const Real* gate, const Real* x, Index count) {
  for_each_lanes(count, [&](Index i, Index lanes) {
    const Lanes g = load(gate + i, lanes);
    store(y + i, g * sigmoid(g) * load(x + i, lanes), lanes);
  });
}

void swiglu_backward(Sink dgate, Sink dx, const Real* dy, const Real* gate, const Real* x, Index count) {
  for_each_lanes(count, [&](Index i, Index lanes) {
    // y = g σ(g) x, and σ' = σ (1 - σ)
    const Lanes g = load(gate + i, lanes);
    const Lanes s = sigmoid(g);
    const Lanes up = load(dy + i, lanes);
    if (dgate) put(dgate + i, up * load(x + i, lanes) * s * (Real{1} + g * (Real{1} - s)), lanes);
    if (dx) put(dx + i, up * g * s, lanes);
  });
}

}  // namespace tapehead::kernels
