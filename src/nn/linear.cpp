#include "tapehead/nn/linear.h"

#include <cmath>

#include "tapehead/autograd/fused.h"

namespace tapehead {

Linear::Linear(const Scope& scope, Index inputs, Index outputs, bool bias, double deviation)
    : weight_(
          scope.add("weight", {outputs, inputs},
                    Start::normal(deviation > 0 ? deviation : 1 / std::sqrt(static_cast<double>(inputs))))),
      has_bias_(bias) {
  if (bias) bias_ = scope.add("bias", {outputs}, Start::constant(0));
}

Variable Linear::operator()(const Pass& pass, const Variable& x) const {
  return outputs(pass, x, 0, weight_.shape[0]);
}

Variable Linear::outputs(const Pass& pass, const Variable& x, Index first, Index count) const {
  const Variable weight = pass.parameter(weight_.rows(first, count));
  return linear(x, weight, has_bias_ ? pass.parameter(bias_.rows(first, count)) : Variable());
}

}  // namespace tapehead
