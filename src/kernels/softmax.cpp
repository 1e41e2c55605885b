#include "tapehead/kernels/softmax.h"

#include <limits>

#include "tapehead/kernels/lanes.h"

namespace tapehead::kernels {

namespace {

constexpr Real kNothing = -std::numeric_limits<Real>::infinity();

Real largest_of_row(const Real* s, Index n) {
  Lanes largest(kNothing);
  for_each_lanes(n,
                 [&](Index j, Index lanes) { largest = xsimd::max(largest, load(s + j, lanes, kNothing)); });
  return largest_of(largest);
}

/// p = exp(s - shift); returns the sum of p.
Real exp_row(Real* p, const Real* s, Real shift, Index n) {
  Lanes total(Real{0});
  for_each_lanes(n, [&](Index j, Index lanes) {
    const Lanes e = xsimd::exp(load(s + j, lanes, kNothing) - shift);
    store(p + j, e, lanes);
    total += e;
  });
  return sum_of(total);
}

}  // namespace

ExpTotal softmax_row(Real* p, const Real* s, Index n) {
  const Real largest = largest_of_row(s, n);
  const Real total = exp_row(p, s, largest, n);
  const Real scale = 1 / total;
  for (Index j = 0; j < n; ++j) p[j] *= scale;
  return {largest, total};
}

namespace {

/// A value for each weight; 0 where the weight is 0, whatever the value is.
Lanes where_seen(const Lanes& weights, const Lanes& values) {
  return xsimd::select(weights == Lanes(Real{0}), Lanes(Real{0}), values);
}

}  // namespace

void softmax_row_backward(Sink ds, const Real* dp, const Real* p, Index n) {
  Lanes along(Real{0});
  for_each_lanes(n, [&](Index j, Index lanes) {
    const Lanes weights = load(p + j, lanes);
    along += weights * where_seen(weights, load(dp + j, lanes));
  });
  const Real mean = sum_of(along);
  for_each_lanes(n, [&](Index j, Index lanes) {
    const Lanes weights = load(p + j, lanes);
    put(ds + j, weights * where_seen(weights, load(dp + j, lanes) - mean), lanes);
  });
}

}  // namespace tapehead::kernels
