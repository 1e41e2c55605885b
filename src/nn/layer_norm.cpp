#include "tapehead/nn/layer_norm.h"

#include "tapehead/autograd/fused.h"

namespace tapehead {

namespace {
constexpr Real kEpsilon = static_cast<Real>(1e-5);
}

LayerNorm::LayerNorm(const Scope& scope, Index width, bool bias)
    : gain_(scope.add("gain", {width}, Start::constant(1))), has_bias_(bias) {
  if (bias) bias_ = scope.add("bias", {width}, Start::constant(0));
}

Variable LayerNorm::operator()(const Pass& pass, const Variable& x) const {
  return layer_norm(x, pass.parameter(gain_), has_bias_ ? pass.parameter(bias_) : Variable(), kEpsilon);
}

}  // namespace tapehead
