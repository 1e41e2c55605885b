#include "tapehead/nn/feed_forward.h"

#include <utility>

#include "tapehead/autograd/fused.h"

namespace tapehead {

FeedForward::FeedForward(const Scope& scope, const Config& config)
    : gate_(config.activation == Activation::swiglu
                ? std::optional<Linear>(std::in_place, scope / "gate", config.width, config.hidden,
                                        config.bias, config.input_deviation)
                : std::nullopt),
      input_(scope / "input", config.width, config.hidden, config.bias, config.input_deviation),
      output_(scope / "output", config.hidden, config.width, config.bias, config.output_deviation),
      gelu_(config.gelu) {}

Variable FeedForward::operator()(const Pass& pass, const Variable& x) const {
  const Variable inner = input_(pass, x);
  return output_(pass, gate_ ? swiglu((*gate_)(pass, x), inner) : gelu(inner, gelu_));
}

}  // namespace tapehead
