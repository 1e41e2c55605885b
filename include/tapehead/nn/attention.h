/// Multi-head causal self-attention (Vaswani et al. 2017, section 3.2).
#pragma once

#include "tapehead/nn/attention_scores.h"
#include "tapehead/nn/dropout.h"
#include "tapehead/nn/linear.h"

namespace tapehead {

struct AttentionConfig {
  Index width = 64;
  Index heads = 2;  ///< width must be divisible by it
  Index context = 64;
  double dropout = 0;  ///< of the attention weights
  bool qkv_bias = true;
  bool bias = true;  ///< of the output projection
  AttentionForm form = AttentionForm::pattern;
  ScoringConfig scoring = {};
  double qkv_deviation = 0;     ///< of the starting weights; 0: 1/sqrt(width)
  double output_deviation = 0;  ///< of the output projection's; 0: 1/sqrt(width/heads)
};

/// (B, T, C) to (B, T, C). Queries, keys and values come from one matrix `qkv` (3C, C): the first C outputs
/// are the queries, then the keys, then the values; head h owns columns hD, ..., (h+1)D - 1 of each.
class CausalSelfAttention {
 public:
  /// Registers `qkv`, what AttentionScores does, and `output`. Throws Error unless the sizes fit, and where
  /// the tiled form is asked for with dropout or additive scores, which it has not.
  CausalSelfAttention(const Scope& scope, const AttentionConfig& config);

  /// `layer` names the sites. In a pass that reads on, x holds the new positions alone, and attends to those
  /// read before too. Throws Error for more than `context` positions or a wrong width.
  Variable operator()(Pass& pass, const Variable& x, Index layer = 0, const AttentionMask& mask = {}) const;

 private:
  /// The heads' outputs, (B, T, H*D).
  Variable heads(Pass& pass, const Variable& q, const Variable& k, const Variable& v, Index layer,
                 const AttentionMask& mask) const;

  AttentionConfig config_;
  Linear qkv_;
  AttentionScores scores_;
  Dropout dropout_;
  Linear output_;
};

}  // namespace tapehead
