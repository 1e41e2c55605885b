/// The matrices of a head as its circuits read them, with the norm before attention folded in.
///
/// Rows are vectors, as in x W_Q: a head's queries, keys and values are x times (C, D), its output (D, C).
/// Where the model has norms, what they do but for one factor is linear and is part of the matrices: taking
/// the mean off (LayerNorm), and the gain. The factor 1 / sqrt(variance + epsilon), of an RMSNorm
/// 1 / sqrt(mean square + epsilon), depends on the stream, and is held: at 1, or at what the caller gives.
/// Biases, of norms too, are left out. W_Q is such that scores are x W_Q W_Kᵀ yᵀ / sqrt(D), whatever a model
/// with bilinear or unscaled scores has in place of that. Where queries and keys are normalised, or scores
/// additive, they are no such product (has_bilinear_scores), and W_Q and W_K are the projections alone.
#pragma once

#include <vector>

#include "tapehead/nn/transformer.h"
#include "tapehead/tasks/task.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

struct HeadWeights {
  Index layer = 0;
  Index head = 0;
  Tensor query;   ///< W_Q (C, D)
  Tensor key;     ///< W_K (C, D)
  Tensor value;   ///< W_V (C, D)
  Tensor output;  ///< W_O (D, C)
};

/// Of one head; `scale` is what the norm's factor is held at, and means nothing without one. Throws
/// Error for a head that the model does not have.
HeadWeights head_weights(const Transformer& model, Index layer, Index head, double scale = 1);

/// Of all heads, layer by layer; `scales` has an entry a layer, or none, which holds all at 1.
std::vector<HeadWeights> all_head_weights(const Transformer& model, const std::vector<double>& scales = {});

/// What the factors of the norms before attention are on average over the batch, an entry a layer; 1
/// where there is no norm.
std::vector<double> attention_scales(const Transformer& model, const Batch& batch,
                                     const EvaluateOptions& options = {});

/// W_pos (count, C): the vectors of the first positions; without rows for a model that adds none to the
/// embedding.
Tensor position_vectors(const Transformer& model, Index count);

/// The name of the parameter that is read out from, (V, C): its own, or that of the embedding.
std::string_view readout_name(const ModelConfig& config);

/// x (N, C) as the read-out meets it: times the final norm's gain, and, of a LayerNorm, mean taken off
/// before. `x` as it is where there is no norm. With it, logits are those rows times the read-out's, but for
/// the final norm's factor and bias.
Tensor before_readout(const Transformer& model, Tensor x);

/// W_O W_U, (D, V): what a head's output does to the logits, the final layer norm as in before_readout.
Tensor output_to_logits(const Transformer& model, const HeadWeights& head);

/// The rows of x named by ids, (ids.size(), C).
Tensor rows_of(const Parameter& table, const std::vector<std::int32_t>& ids);

/// A B for matrices (M, K) and (K, N), and A Bᵀ for (M, K) and (N, K).
Tensor product(const Tensor& a, const Tensor& b);
Tensor product_transposed(const Tensor& a, const Tensor& b);

}  // namespace tapehead
