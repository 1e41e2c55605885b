/// Attention in one kernel that never holds the pattern: scores are made a tile at a time and folded into the
/// output with a running maximum and sum (Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022). Beside
/// its arguments it needs tiles of fixed size, and on the way back a number a query. Tiles in which no query
/// may see a key are left out. For short texts, and wherever the pattern itself is wanted, see attention.h.
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/attention.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

/// output = softmax(scores) * values, head by head. Leaves in `largest` and `factors`, both (B, H, T), what
/// makes a query's weights anew: weight = exp(score - largest) * factor. They are kept apart since the log of
/// their sum would round where scores are large. A query that may see nothing has output 0 and factor 0.
void tiled_attention_forward(Real* output, Real* largest, Real* factors, const Real* queries,
                             const Real* keys, const Real* values, Scoring scoring, Sight sight,
                             AttentionSizes sizes);

/// Whichever of dqueries, dkeys and dvalues is not null; makes the weights a second time. Weights of 0 pass
/// no gradient to scores, and the slopes get none.
void tiled_attention_backward(Sink dqueries, Sink dkeys, Sink dvalues, const Real* doutput,
                              const Real* output, const Real* largest, const Real* factors,
                              const Real* queries, const Real* keys, const Real* values, Scoring scoring,
                              Sight sight, AttentionSizes sizes);

}  // namespace tapehead::kernels
