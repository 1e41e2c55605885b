#include "tapehead/nn/block.h"

#include <cmath>

#include "tapehead/autograd/elementary.h"

namespace tapehead {

namespace {

constexpr double kGpt2Deviation = 0.02;

/// 0 leaves the module's own choice, which is one over the root of the number of inputs.
double read_deviation(const ModelConfig& config) {
  return config.initialisation == Initialisation::gpt2 ? kGpt2Deviation : 0;
}

/// Of the projections that write to the residual stream.
double write_deviation(const ModelConfig& config) {
  return config.initialisation == Initialisation::gpt2
             ? kGpt2Deviation / std::sqrt(2 * static_cast<double>(config.layers))
             : 0;
}

AttentionConfig attention_config(const ModelConfig& config) {
  return {.width = config.width,
          .heads = config.heads,
          .context = config.context,
          .dropout = config.dropout,
          .qkv_bias = config.qkv_bias,
          .bias = config.bias,
          .form = config.attention,
          .scoring = scoring_of(config),
          .qkv_deviation = read_deviation(config),
          .output_deviation = write_deviation(config)};
}

}  // namespace

Block::Block(const Scope& scope, const ModelConfig& config, Index layer)
    : layer_(layer),
      attention_norm_(scope / "attention_norm", config),
      attention_(scope / "attention", attention_config(config)),
      dropout_(config.dropout) {
  if (config.feed_forward == 0) return;
  feed_forward_norm_.emplace(scope / "feed_forward_norm", config);
  feed_forward_.emplace(scope / "feed_forward",
                        FeedForward::Config{.width = config.width,
                                            .hidden = config.feed_forward,
                                            .activation = config.activation,
                                            .gelu = config.gelu,
                                            .bias = config.bias,
                                            .output_deviation = write_deviation(config),
                                            .input_deviation = read_deviation(config)});
}

Variable Block::operator()(Pass& pass, Variable x, const AttentionMask& mask) const {
  x = pass.at(residual_before(layer_), x);
  x = x + dropout_(pass, attention_(pass, attention_norm_(pass, x), layer_, mask));
  if (feed_forward_) {
    const Variable write =
        pass.at(feed_forward_output(layer_), (*feed_forward_)(pass, (*feed_forward_norm_)(pass, x)));
    x = x + dropout_(pass, write);
  }
  return pass.at(residual_after(layer_), x);
}

}  // namespace tapehead
