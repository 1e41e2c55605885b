#include "tapehead/nn/feed_forward.h"

#include <cmath>

#include "tapehead/autograd/fused.h"

namespace tapehead {

namespace {

double deviation_or(double deviation, Index inputs) {
  return deviation > 0 ? deviation : 1 / std::sqrt(static_cast<double>(inputs));
}

}  // namespace

FeedForward::FeedForward(const Scope& scope, const Config& config)
    : input_(scope / "input", config.width, config.hidden, config.bias,
             deviation_or(config.input_deviation, config.width)),
      output_(scope / "output", config.hidden, config.width, config.bias,
              deviation_or(config.output_deviation, config.hidden)),
      gelu_(config.gelu) {}

Variable FeedForward::operator()(const Pass& pass, const Variable& x) const {
  return output_(pass, gelu(input_(pass, x), gelu_));
}

}  // namespace tapehead
