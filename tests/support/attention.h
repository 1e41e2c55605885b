/// Attention by its definition, in elementary ops, for the ops that are kernels.
#pragma once

#include "tapehead/autograd/attention.h"

namespace tapehead::testing {

/// softmax(scale q kᵀ - slope distance) over the keys that may be seen, as attention_pattern's.
Variable pattern_definition(const Variable& q, const Variable& k, Index heads, const AttentionMask& mask = {},
                            const Scoring& scoring = {});

/// The heads' pattern times values, side by side, as attention_mix's.
Variable mix_definition(const Variable& pattern, const Variable& values);

}  // namespace tapehead::testing
