/// A head's circuits as matrices to look at, over tokens or over positions. What they come to in numbers is
/// in circuits.h.
///
/// The matrices are those of head_weights.h, which says what of a layer norm is folded and what is held.
#pragma once

#include <vector>

#include "tapehead/interp/circuits.h"
#include "tapehead/interp/head_weights.h"

namespace tapehead {

/// `ov`: full OV, W_E W_V W_O W_U: rows are the tokens attended to, columns those whose logits it changes.
/// `qk_tokens`: W_E W_Q W_Kᵀ W_Eᵀ/√D, scores by token: rows are queries, columns keys. `qk_positions`: the
/// causal softmax of the same with W_pos for W_E: what the head would look at by position alone.
/// `k_composition`: (W_E W_Q)(W_E W_V W_O W_K)ᵀ/√D, V and O of an earlier head, that of the largest
/// K-composition score: rows are the query's tokens, columns the tokens that the earlier head has copied
/// there.
enum class CircuitMapKind { ov, qk_tokens, qk_positions, k_composition };
std::string_view name_of(CircuitMapKind kind);

struct CircuitMap {
  CircuitMapKind kind = CircuitMapKind::ov;
  Index layer = 0;
  Index head = 0;
  Index earlier_layer = -1;  ///< of k_composition
  Index earlier_head = -1;
  Tensor values;  ///< (N, N) of tokens, or (T, T) of positions
};

struct CircuitMaps {
  std::vector<std::int32_t> tokens;  ///< of rows and columns: all, or a sample from a fixed stream
  Index positions = 0;
  std::vector<CircuitMap> maps;  ///< head by head, in the order of the kinds
};

/// Of every head. The same bits for any number of threads. Throws Error as circuits_of does.
CircuitMaps circuit_maps(const Transformer& model, const CircuitOptions& options);

/// The ids that circuits in tokens are made of: all, or a sample of `most` in order, from a fixed stream.
std::vector<std::int32_t> circuit_tokens(Index vocabulary, Index most);

/// The causal softmax of W_pos W_Q W_Kᵀ W_posᵀ/√D, (T, T), from `positions`, W_pos (T, C).
Tensor positional_pattern(const HeadWeights& head, const Tensor& positions);

}  // namespace tapehead
