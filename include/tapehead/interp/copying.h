/// The copying score: whether what a head looks at is what it makes more likely next.
///
/// For a query q and a position k that it looks at, the head adds v_k W_O W_U to the logits. Of that, the
/// mean over the vocabulary is taken off, since it moves no probability, and what is below 0 is cut; the
/// score is the share of the rest that falls on the token x_k, a mean over queries and positions weighted by
/// the pattern, scaled from [0, 1] to [-1, 1]. What raises no token counts as the share of chance, 1/V. It is
/// measured on sequences of distinct random tokens, so that a share is of one position's token alone.
/// The final layer norm's gain and centring are part of W_U; its factor is one number a position, and does
/// not change a share. Only the head's own, direct part counts: not what later layers make of it.
#pragma once

#include <cstdint>
#include <vector>

#include "tapehead/base/random.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/tensor/tokens.h"

namespace tapehead {

/// `count` different ids below `vocabulary`, in random order. Throws Error for more than there are.
std::vector<std::int32_t> distinct_tokens(Generator& generator, Index vocabulary, Index count);

/// The sequences that the score is measured on, always the same: four, of distinct tokens each, as long as
/// vocabulary and context let them be, and 32 at most.
Tokens copying_sequences(const ModelConfig& config);

/// A score a head, layer by layer; the same bits for any number of threads.
std::vector<double> copying_scores(const Transformer& model, int threads = 1);

/// What a head scores that raises all tokens alike: 2/V - 1.
double chance_copying(Index vocabulary);

}  // namespace tapehead
