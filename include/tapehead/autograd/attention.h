/// The ops of attention: what may be done to queries and keys, the pattern, and the mix of values.
///
/// Queries, keys and values are (B, T, H*D), the heads side by side. Every op is one kernel forward and one
/// backward, and is tested against its formula in elementary ops. All throw Error for shapes that do not fit.
#pragma once

#include <optional>
#include <vector>

#include "tapehead/autograd/variable.h"
#include "tapehead/tensor/tokens.h"

namespace tapehead {

/// Which keys a query may see. A key must be allowed by both.
struct AttentionMask {
  bool causal = true;  ///< none after the query's own position
  Mask visible;        ///< (B, K), 1 for a real key, 0 for padding; empty: all are real
};

/// How a score comes from a query and a key.
struct Scoring {
  std::optional<double> scale = {};  ///< of their product; 1/sqrt(D) unless it is given
  std::vector<Real> slopes = {};  ///< (H), or none: less this for every position that the key lies before the
                                  ///< query; only under a causal mask (Press et al. 2022, section 3)
};

/// softmax(scale q kᵀ - slope distance), (B, H, T, K), from queries (B, T, H*D) and keys (B, K, H*D) (Vaswani
/// et al. 2017, equation 1). K is T or more: the queries are those of the last T positions. A query that may
/// see no key has weights 0, and passes no gradient.
Variable attention_pattern(const Variable& queries, const Variable& keys, Index heads,
                           const AttentionMask& mask = {}, const Scoring& scoring = {});

/// pattern (B, H, T, K) times values (B, K, H*D), head by head: (B, T, H*D).
Variable attention_mix(const Variable& pattern, const Variable& values);

/// Both in one op that never holds the pattern, for long texts:
/// attention_mix(attention_pattern(queries, keys, ...), values) to within rounding, (B, T, H*D), from queries
/// (B, T, H*D) of the last T positions and keys and values (B, K, H*D). It keeps two numbers a query and head
/// for the way back. A query that may see no key has output 0 and passes no gradient. Throws Error for shapes
/// that do not fit.
Variable tiled_attention(const Variable& queries, const Variable& keys, const Variable& values, Index heads,
                         const AttentionMask& mask = {}, const Scoring& scoring = {});

/// Σ_d weight tanh(q + k) over the D numbers of a head, (B, H, T, K), with a weight (H, D) (Bahdanau et al.
/// 2015, appendix A.1.2). Under a causal mask the scores of later keys are 0: what weighs them hides them.
Variable additive_scores(const Variable& queries, const Variable& keys, const Variable& weight, bool causal);

/// The pattern from scores (B, H, T, K): softmax(scores - slope distance) as in attention_pattern.
Variable attention_weights(const Variable& scores, const AttentionMask& mask = {},
                           const std::vector<Real>& slopes = {});

/// x Wᵀ head by head, for x (B, T, H*D) and a weight (H*D, D), whose rows hD, ..., (h+1)D - 1 are head h's.
Variable head_linear(const Variable& x, const Variable& weight);

/// x (B, T, H*D) with the pairs (2i, 2i + 1) of every head turned by the angle of their row: row t of
/// `angles` (T, D) holds its sine and cosine in columns 2i and 2i + 1 (Su et al. 2021, equation 34). `angles`
/// gets no gradient.
Variable rotary(const Variable& x, const Variable& angles);

/// y_t = σ(gate) x_t + (1 - σ(gate)) x_{t-1} for x (B, K, H*D), with a gate (H) a head (Olsson et al.
/// 2022, argument 2). y_t = x_t where there is none before it: at t = 0, and after a 0 of a padding mask.
Variable smear(const Variable& x, const Variable& gate, const Mask& visible = {});

}  // namespace tapehead
