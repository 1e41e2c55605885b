/// One layer of a Transformer: attention and feed-forward, each added to the residual stream.
#pragma once

#include <optional>

#include "tapehead/nn/attention.h"
#include "tapehead/nn/feed_forward.h"
#include "tapehead/nn/model_config.h"
#include "tapehead/nn/norm.h"

namespace tapehead {

/// x + attention(norm(x)), then + feed_forward(norm(.)) (pre-norm: Radford et al. 2019, section 2.3). The
/// norms and the feed-forward part are there only where the config has them.
class Block {
 public:
  Block(const Scope& scope, const ModelConfig& config, Index layer);

  /// (B, T, C) to (B, T, C).
  Variable operator()(Pass& pass, Variable x, const AttentionMask& mask = {}) const;

 private:
  Index layer_;
  Norm attention_norm_;
  CausalSelfAttention attention_;
  std::optional<Norm> feed_forward_norm_;
  std::optional<FeedForward> feed_forward_;
  Dropout dropout_;
};

}  // namespace tapehead
