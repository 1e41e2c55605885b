#include "tapehead/nn/layer_norm.h"

#include <cmath>

#include "tapehead/autograd/fused.h"

namespace tapehead {

namespace {
constexpr Real kEpsilon = static_cast<Real>(1e-5);
}

double LayerNorm::scale_of(std::span<const Real> row) {
  const auto count = static_cast<double>(row.size());
  double mean = 0;
  for (const Real x : row) mean += static_cast<double>(x) / count;
  double variance = 0;
  for (const Real x : row)
    variance += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean) / count;
  return 1 / std::sqrt(variance + static_cast<double>(kEpsilon));
}

LayerNorm::LayerNorm(const Scope& scope, Index width, bool bias)
    : gain_(scope.add("gain", {width}, Start::constant(1))), has_bias_(bias) {
  if (bias) bias_ = scope.add("bias", {width}, Start::constant(0));
}

Variable LayerNorm::operator()(const Pass& pass, const Variable& x) const {
  return layer_norm(x, pass.parameter(gain_), has_bias_ ? pass.parameter(bias_) : Variable(), kEpsilon);
}

}  // namespace tapehead
