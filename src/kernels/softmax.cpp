#include "tapehead/kernels/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <xsimd/xsimd.hpp>

namespace tapehead::kernels {

namespace {

using Lanes = xsimd::batch<Real>;

constexpr Index kLanes = static_cast<Index>(Lanes::size);

Real largest_of(const Real* s, Index n) {
  Lanes lanes(-std::numeric_limits<Real>::infinity());
  Index j = 0;
  for (; j + kLanes <= n; j += kLanes) lanes = xsimd::max(lanes, Lanes::load_unaligned(s + j));
  std::array<Real, Lanes::size> parts;
  lanes.store_unaligned(parts.data());
  Real largest = *std::max_element(parts.begin(), parts.end());
  for (; j < n; ++j) largest = std::max(largest, s[j]);
  return largest;
}

/// p = exp(s - shift); returns the sum of p. The last few numbers go through the same lanes as the others.
Real exp_row(Real* p, const Real* s, Real shift, Index n) {
  Lanes total(Real{0});
  Index j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    const Lanes e = xsimd::exp(Lanes::load_unaligned(s + j) - shift);
    e.store_unaligned(p + j);
    total += e;
  }
  if (j < n) {
    std::array<Real, Lanes::size> rest;
    rest.fill(-std::numeric_limits<Real>::infinity());
    std::copy(s + j, s + n, rest.begin());
    const Lanes e = xsimd::exp(Lanes::load_unaligned(rest.data()) - shift);
    e.store_unaligned(rest.data());
    std::copy_n(rest.begin(), n - j, p + j);
    total += e;
  }
  return xsimd::hadd(total);
}

}  // namespace

LogTotal softmax_row(Real* p, const Real* s, Index n) {
  const Real largest = largest_of(s, n);
  const Real total = exp_row(p, s, largest, n);
  const Real scale = 1 / total;
  for (Index j = 0; j < n; ++j) p[j] *= scale;
  return {largest, std::log(total)};
}

void softmax_row_backward(Real* ds, const Real* dp, const Real* p, Index n) {
  Real mean = 0;
#pragma omp simd reduction(+ : mean)
  for (Index j = 0; j < n; ++j) mean += p[j] * dp[j];
  for (Index j = 0; j < n; ++j) ds[j] += p[j] * (dp[j] - mean);
}

}  // namespace tapehead::kernels
