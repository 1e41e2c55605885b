#include "tapehead/nn/feed_forward.h"

#include "tapehead/autograd/fused.h"

namespace tapehead {

FeedForward::FeedForward(const Scope& scope, const Config& config)
    : input_(scope / "input", config.width, config.hidden, config.bias, config.input_deviation),
      output_(scope / "output", config.hidden, config.width, config.bias, config.output_deviation),
      gelu_(config.gelu) {}

Variable FeedForward::operator()(const Pass& pass, const Variable& x) const {
  return output_(pass, gelu(input_(pass, x), gelu_));
}

}  // namespace tapehead
