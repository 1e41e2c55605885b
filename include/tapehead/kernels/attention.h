/// Attention in two kernels, so that the pattern between them can be seen and changed (Vaswani et al. 2017,
/// equation 1). Queries and outputs are (B, T, H*D), keys and values (B, K, H*D): the heads lie side by side
/// in a row. The pattern is (B, H, T, K): rows are queries, columns are keys. K is T, but for a text that is
/// read on: then the queries are the last T of the K positions.
#pragma once

#include <cstdint>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

struct AttentionSizes {
  Index batch;        ///< B
  Index length;       ///< T
  Index heads;        ///< H
  Index head_width;   ///< D
  Index earlier = 0;  ///< K - T: keys of positions before the first query's

  Index keys() const { return earlier + length; }  ///< K
};

/// The keys that a query may see: those up to its own position where `causal`, of which `visible` (B, K),
/// unless null, says 1.
struct Sight {
  bool causal = true;
  const std::uint8_t* visible = nullptr;
};

/// How a score comes from the product of a query and a key.
struct Scoring {
  Real scale = 1;                ///< of the product
  const Real* slopes = nullptr;  ///< (H), or null: less this for every position that the key lies before the
                                 ///< query (Press et al. 2022, section 3)
};

/// pattern = softmax(scale q kᵀ - slope distance) over the keys a query may see. All other weights are
/// exactly 0 where the scores are finite; so is a row that may see nothing.
void attention_pattern_forward(Real* pattern, const Real* queries, const Real* keys, Scoring scoring,
                               Sight sight, AttentionSizes sizes);

/// Whichever of dqueries and dkeys is not null. Weights of 0 pass no gradient. `causal` as on the way there.
void attention_pattern_backward(Sink dqueries, Sink dkeys, const Real* dpattern, const Real* pattern,
                                const Real* queries, const Real* keys, Real scale, bool causal,
                                AttentionSizes sizes);

/// The same from scores (B, H, T, K) that are there already: weights = softmax(scores - slope distance).
void attention_weights_forward(Real* weights, const Real* scores, const Real* slopes, Sight sight,
                               AttentionSizes sizes);

void attention_weights_backward(Sink dscores, const Real* dweights, const Real* weights,
                                AttentionSizes sizes);

/// For each head of each sequence, B*H in all, whether its pattern is square and no query looks ahead. A mask
/// makes it so and an edit of the pattern may undo it, so it is read off the weights.
std::vector<bool> causal_heads(const Real* pattern, AttentionSizes sizes);

/// output = pattern * values, head by head. `causal` as causal_heads gives it; half of such a head is
/// skipped.
void attention_mix_forward(Real* output, const Real* pattern, const Real* values,
                           const std::vector<bool>& causal, AttentionSizes sizes);

/// Whichever of dpattern and dvalues is not null.
void attention_mix_backward(Sink dpattern, Sink dvalues, const Real* doutput, const Real* pattern,
                            const Real* values, const std::vector<bool>& causal, AttentionSizes sizes);

}  // namespace tapehead::kernels
