/// What tiled attention asks for beside its arguments, by its sizes alone: the loops of tiled_attention.cpp
/// over their tiles, without numbers.
#pragma once

#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/kernels/attention.h"

namespace tapehead::kernels {

struct TiledAttentionCost {
  Index operations;         ///< of matrix products, as gemm_operations counts them
  std::vector<Index> room;  ///< how many numbers each array has that is held meanwhile
};

/// Of tiled_attention_forward.
TiledAttentionCost tiled_attention_forward_cost(AttentionSizes sizes, bool causal);

/// Of tiled_attention_backward where all three gradients are wanted.
TiledAttentionCost tiled_attention_backward_cost(AttentionSizes sizes, bool causal);

}  // namespace tapehead::kernels
