/// Causal self-attention of one head, with three matrices of its own: attention as it is first written down
/// ("Attention, slowly"). The model uses CausalSelfAttention, whose one matrix does the work of many of
/// these.
#pragma once

#include "tapehead/autograd/attention.h"
#include "tapehead/nn/linear.h"

namespace tapehead {

/// (B, T, inputs) to (B, T, D), D being the head's width: softmax(q kᵀ / sqrt(D)) v, with no projection
/// after it.
class OneHeadAttention {
 public:
  /// Registers `query`, `key` and `value`, each a weight (D, inputs) and, where wanted, a bias (D). Throws
  /// Error for sizes below 1.
  OneHeadAttention(const Scope& scope, Index inputs, Index head_width, bool qkv_bias = false);

  /// Throws Error for an x of another width.
  Variable operator()(const Pass& pass, const Variable& x, const AttentionMask& mask = {}) const;

 private:
  Linear query_;
  Linear key_;
  Linear value_;
};

}  // namespace tapehead
