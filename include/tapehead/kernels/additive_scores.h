/// Additive attention scores (Bahdanau et al. 2015, appendix A.1.2).
#pragma once

#include "tapehead/kernels/attention.h"

namespace tapehead::kernels {

/// scores (B, H, T, K): Σ_d weight tanh(q + k) over the D numbers of a head, with a weight (H, D). Where
/// `causal`, those of keys after the query's own position are not computed, and 0.
void additive_scores_forward(Real* scores, const Real* queries, const Real* keys, const Real* weight,
                             bool causal, AttentionSizes sizes);

/// Whichever of dqueries, dkeys and dweight is not null; all are added to. `causal` as on the way there.
void additive_scores_backward(Real* dqueries, Real* dkeys, Real* dweight, const Real* dscores,
                              const Real* queries, const Real* keys, const Real* weight, bool causal,
                              AttentionSizes sizes);

}  // namespace tapehead::kernels
