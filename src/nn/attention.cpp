#include "tapehead/nn/attention.h"

#include <cmath>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

const AttentionConfig& checked(const AttentionConfig& config) {
  require(config.width >= 1 && config.heads >= 1 && config.width % config.heads == 0,
          "[attention] expected width to be divisible by heads, got width {} and {} heads", config.width,
          config.heads);
  require(config.context >= 1, "[attention] expected a context of at least 1, got {}", config.context);
  const bool tiled = config.form == AttentionForm::tiled;
  require(!tiled || config.dropout == 0,
          "[attention] the tiled form has no weights to drop: expected a dropout of 0, got {}",
          config.dropout);
  require(!tiled || config.scoring.form != ScoreForm::additive,
          "[attention] the tiled form has no additive scores, only products of query and key");
  return config;
}

/// A head's output projection reads one head, so that is its number of inputs.
double output_deviation(const AttentionConfig& config) {
  if (config.output_deviation > 0) return config.output_deviation;
  return 1 / std::sqrt(static_cast<double>(config.width / config.heads));
}

}  // namespace

CausalSelfAttention::CausalSelfAttention(const Scope& scope, const AttentionConfig& config)
    : config_(checked(config)),
      qkv_(scope / "qkv", config.width, 3 * config.width, config.qkv_bias, config.qkv_deviation),
      scores_(scope, config.width, config.heads, config.context, config.scoring),
      dropout_(config.dropout),
      output_(scope / "output", config.width, config.width, config.bias, output_deviation(config)) {}

Variable CausalSelfAttention::heads(Pass& pass, const Variable& q, const Variable& k, const Variable& v,
                                    Index layer, const AttentionMask& mask) const {
  if (config_.form == AttentionForm::tiled) return scores_.mix(pass, q, k, v, mask);
  const Variable p = pass.at(pattern(layer), scores_.pattern(pass, q, k, mask));
  return attention_mix(dropout_(pass, p), v);
}

Variable CausalSelfAttention::operator()(Pass& pass, const Variable& x, Index layer,
                                         const AttentionMask& mask) const {
  const Index width = config_.width;
  require(x.shape().rank() == 3 && x.shape()[2] == width, "[attention] expected x (B, T, {}), got {}", width,
          x.shape());
  KeyValueCache* const cache = pass.cache();
  const Index positions = x.shape()[1] + (cache == nullptr ? 0 : cache->length());
  require(positions <= config_.context, "[attention] {} positions are more than the context of {}", positions,
          config_.context);
  const Variable q = pass.at(queries(layer), qkv_.outputs(pass, x, 0, width));
  Variable k = pass.at(keys(layer), qkv_.outputs(pass, x, width, width));
  Variable v = pass.at(values(layer), qkv_.outputs(pass, x, 2 * width, width));
  if (cache != nullptr) {
    k = cache->add_keys(layer, k);
    v = cache->add_values(layer, v);
  }
  const Variable z = pass.at(head_output(layer), heads(pass, q, k, v, layer, mask));
  return pass.at(attention_output(layer), output_(pass, z));
}

}  // namespace tapehead
