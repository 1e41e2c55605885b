#include "tapehead/nn/transformer.h"

#include <algorithm>
#include <cmath>

#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/sinusoids.h"
#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

const ModelConfig& checked(const ModelConfig& config) {
  validate(config);
  return config;
}

double table_deviation(const ModelConfig& config) {
  return config.initialisation == Initialisation::gpt2 ? 0.02
                                                       : 1 / std::sqrt(static_cast<double>(config.width));
}

/// How many zeros the mask of sequence b begins with.
Index left_padding(const Mask& visible, Index b) {
  Index count = 0;
  while (count < visible.length() && visible(b, count) == 0) ++count;
  return count;
}

bool is_padded_left(const Mask& visible) {
  for (Index b = 0; b < visible.batch(); ++b)
    if (visible.length() > 0 && visible(b, 0) == 0) return true;
  return false;
}

/// The position of every token, counted from its sequence's first visible one, where the first of them stands
/// in column `first` of the mask. Padding before it is at 0, as far as anybody could see.
Tokens positions_of(const Tokens& tokens, const Mask& visible, Index first) {
  Tokens positions(tokens.batch(), tokens.length());
  for (Index b = 0; b < tokens.batch(); ++b) {
    const Index padding = left_padding(visible, b);
    for (Index t = 0; t < tokens.length(); ++t)
      positions(b, t) = static_cast<std::int32_t>(std::max<Index>(0, first + t - padding));
  }
  return positions;
}

Index read_before(Pass& pass) { return pass.cache() == nullptr ? 0 : pass.cache()->length(); }

}  // namespace

void validate(const ModelConfig& config) {
  const auto at_least = [](Index value, Index least, const char* name) {
    require(value >= least, "[model] expected {} of at least {}, got {}", name, least, value);
  };
  at_least(config.vocabulary, 1, "vocabulary");
  at_least(config.context, 1, "context");
  at_least(config.width, 1, "width");
  at_least(config.heads, 1, "heads");
  at_least(config.layers, 0, "layers");
  at_least(config.feed_forward, 0, "feed_forward");
  require(config.width % config.heads == 0,
          "[model] expected width to be divisible by heads, got width {} and {} heads", config.width,
          config.heads);
  require(config.dropout >= 0 && config.dropout <= 1, "[model] expected dropout between 0 and 1, got {}",
          config.dropout);
  const double bytes = sizeof(Real) * (count_parameters(config) + count_fixed_positions(config));
  require(
      bytes <= physical_memory(),
      "[model] vocabulary {}, context {}, width {}, feed_forward {} and {} layers take {:.3g} GB for their "
      "parameters alone, and this machine has {:.3g} GB of memory",
      config.vocabulary, config.context, config.width, config.feed_forward, config.layers, bytes / 1e9,
      physical_memory() / 1e9);
}

Transformer::Transformer(const ModelConfig& config)
    : config_(checked(config)),
      parameters_(std::make_unique<Parameters>()),
      token_embedding_(Scope(*parameters_, "embedding"), config.vocabulary, config.width,
                       table_deviation(config)),
      dropout_(config.dropout) {
  const Scope model(*parameters_);
  if (config.positions == Positions::learned)
    position_embedding_.emplace(model / "positions", config.context, config.width, table_deviation(config));
  if (config.positions == Positions::sinusoidal) sinusoids_ = sinusoids(config.context, config.width);
  blocks_.reserve(static_cast<std::size_t>(config.layers));
  for (Index layer = 0; layer < config.layers; ++layer)
    blocks_.emplace_back(model / "blocks" / std::to_string(layer), config, layer);
  final_norm_.emplace(model / "final_norm", config);
  if (!config.tied)
    unembedding_.emplace(model / "unembedding", config.width, config.vocabulary, false,
                         table_deviation(config));
}

Transformer::Transformer(const ModelConfig& config, std::uint64_t seed) : Transformer(config) {
  require(
      config.initialisation != Initialisation::imported,
      "[model] the starting weights of an imported model are in its checkpoint, and not to be drawn; to draw "
      "others, set model.initialisation to fan_in or gpt2");
  parameters_->initialise(seed);
}

Transformer Transformer::zeros(const ModelConfig& config) {
  Transformer model(config);
  model.parameters_->initialise_with_zeros();
  return model;
}

Variable Transformer::embed(Pass& pass, const Tokens& tokens, const Mask& visible) const {
  Variable x = token_embedding_(pass, tokens);
  const Index first = read_before(pass);
  const bool padded = is_padded_left(visible);
  if (position_embedding_)
    x = x + (padded ? (*position_embedding_)(pass, positions_of(tokens, visible, first))
                    : position_embedding_->rows(pass, first, tokens.length()));
  if (config_.positions == Positions::sinusoidal)
    x = x + (padded ? embedding(constant(sinusoids_.data(), sinusoids_.shape()),
                                positions_of(tokens, visible, first))
                    : constant(sinusoids_.data() + first * config_.width, {tokens.length(), config_.width}));
  return pass.at(embedding_site(), dropout_(pass, x));
}

Variable Transformer::operator()(Pass pass, const Tokens& tokens, const Mask& visible) const {
  require(tokens.count() > 0, "[model] expected at least one token, got ({}, {})", tokens.batch(),
          tokens.length());
  const Index positions = read_before(pass) + tokens.length();
  require(
      positions <= config_.context,
      "[model] {} positions are more than the context of {}; cut the sequence or train with a longer context",
      positions, config_.context);
  require(visible.empty() || (visible.batch() == tokens.batch() && visible.length() == positions),
          "[model] expected a padding mask ({}, {}), got ({}, {})", tokens.batch(), positions,
          visible.batch(), visible.length());
  pass.begin(config_);
  Variable logits = finish(pass, 0, embed(pass, tokens, visible), visible);
  if (pass.cache() != nullptr) pass.cache()->advance(tokens.length());
  return logits;
}

Variable Transformer::from_layer(Pass pass, Index layer, const Variable& residual,
                                 const Mask& visible) const {
  require(layer >= 0 && layer <= config_.layers, "[model] expected a layer between 0 and {}, got {}",
          config_.layers, layer);
  const Shape& shape = residual.shape();
  require(shape.rank() == 3 && shape.count() > 0 && shape[1] <= config_.context && shape[2] == config_.width,
          "[model] expected a residual (B, T, {}) with T up to {}, got {}", config_.width, config_.context,
          shape);
  require(pass.cache() == nullptr,
          "[model] the upper part of a pass cannot read on: what lies below is not there");
  require(visible.empty() || (visible.batch() == shape[0] && visible.length() == shape[1]),
          "[model] expected a padding mask ({}, {}), got ({}, {})", shape[0], shape[1], visible.batch(),
          visible.length());
  pass.begin(config_);
  return finish(pass, layer, residual, visible);
}

Variable Transformer::finish(Pass& pass, Index layer, Variable x, const Mask& visible) const {
  const AttentionMask mask{.causal = true, .visible = visible};
  for (std::size_t i = static_cast<std::size_t>(layer); i < blocks_.size(); ++i)
    x = blocks_[i](pass, x, mask);
  x = pass.at(final_residual(), (*final_norm_)(pass, x));
  Variable logits = unembedding_ ? (*unembedding_)(pass, x) : token_embedding_.read_out(pass, x);
  logits = pass.at(logits_site(), logits);
  pass.end();
  return logits;
}

}  // namespace tapehead
