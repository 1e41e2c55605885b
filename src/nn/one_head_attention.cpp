#include "tapehead/nn/one_head_attention.h"

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

Index checked(Index inputs, Index head_width) {
  require(inputs >= 1 && head_width >= 1,
          "[attention] expected widths of at least 1, got {} inputs and a head of {}", inputs, head_width);
  return inputs;
}

}  // namespace

OneHeadAttention::OneHeadAttention(const Scope& scope, Index inputs, Index head_width, bool qkv_bias)
    : query_(scope / "query", checked(inputs, head_width), head_width, qkv_bias),
      key_(scope / "key", inputs, head_width, qkv_bias),
      value_(scope / "value", inputs, head_width, qkv_bias) {}

Variable OneHeadAttention::operator()(const Pass& pass, const Variable& x, const AttentionMask& mask) const {
  require(x.shape().rank() == 3, "[attention] expected x (B, T, inputs), got {}", x.shape());
  const Variable pattern = attention_pattern(query_(pass, x), key_(pass, x), 1, mask);
  return attention_mix(pattern, value_(pass, x));
}

}  // namespace tapehead
