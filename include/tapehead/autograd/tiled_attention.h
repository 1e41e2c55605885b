/// Attention as one op, which never holds the pattern: for long texts. Where the pattern is to be seen or
/// changed, take attention_pattern and attention_mix.
#pragma once

#include "tapehead/autograd/attention.h"

namespace tapehead {

/// attention_mix(attention_pattern(queries, keys, ...), values) to within rounding, (B, T, H*D), from queries
/// (B, T, H*D) of the last T positions and keys and values (B, K, H*D). It keeps two numbers a query and head
/// for the way back. A query that may see no key has output 0 and passes no gradient. Throws Error for shapes
/// that do not fit.
Variable tiled_attention(const Variable& queries, const Variable& keys, const Variable& values, Index heads,
                         const AttentionMask& mask = {}, const Scoring& scoring = {});

}  // namespace tapehead
