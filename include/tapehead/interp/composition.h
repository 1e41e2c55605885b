/// How much of what an earlier head writes a later head reads, from the weights of both.
///
/// The score is ‖W_A W_B‖ / (‖W_A‖ ‖W_B‖) in Frobenius norms (Elhage et al. 2021, "A mathematical framework
/// for transformer circuits", section on composition): W_A is the earlier head's OV, W_B the later one's QK
/// (its queries read), QKᵀ (its keys read) or OV (its values read). It lies between 0 and 1, and matrices
/// that have nothing to do with each other score about 1/√C and not 0: it means nothing without its baseline.
/// Feed-forward parts and layer norms between the two are passed over, but for the later head's own.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "tapehead/interp/head_weights.h"

namespace tapehead {

enum class Composition { queries, keys, values };

/// "Q", "K" and "V", in the order of the enum.
inline constexpr std::array<std::string_view, 3> kCompositionNames{"Q", "K", "V"};

/// A head as composition sees it: products of its matrices with themselves, (D, D), made once.
struct ComposingHead {
  explicit ComposingHead(HeadWeights weights);

  HeadWeights weights;
  Tensor query_gram;   ///< W_Qᵀ W_Q
  Tensor key_gram;     ///< W_Kᵀ W_K
  Tensor value_gram;   ///< W_Vᵀ W_V
  Tensor output_gram;  ///< W_O W_Oᵀ
};

/// NaN where one of the two is 0.
double composition_score(const ComposingHead& earlier, const ComposingHead& later, Composition how);

/// What heads of independent normal weights score.
struct Baseline {
  double mean = 0;
  double spread = 0;  ///< the standard deviation
};

/// Of a model of this width, and heads of this width: over 32 pairs from a fixed stream. One baseline serves
/// all three ways to compose, whose products have the same shapes.
Baseline composition_baseline(Index width, Index head_width);

/// Over all heads, layer by layer: the largest K-composition score with any earlier head; NaN in layer 0,
/// and where scores are no product of queries and keys.
std::vector<double> k_composition_scores(const Transformer& model, int threads = 1);

/// K-composition in tokens: the later head's attention scores between queries, by their token, and keys, by
/// what the earlier head has copied there. A row is a query.
struct TokenComposition {
  double difference = 0;  ///< the mean on the diagonal less the mean off it; NaN for one token
  double top1 = 0;        ///< share of rows whose largest number, alone, is on the diagonal
};
/// Of (W_E W_Q)(W_E W_V W_O W_K)ᵀ/√D, W_Q and W_K of the later head; `tokens` are the rows of W_E, (N, C).
TokenComposition token_composition(const HeadWeights& earlier, const HeadWeights& later,
                                   const Tensor& tokens);
/// The same from W_E W_V of the earlier head and W_E W_Q of the later, (N, D) each, made once for all pairs.
TokenComposition token_composition(const HeadWeights& earlier, const Tensor& token_values,
                                   const HeadWeights& later, const Tensor& token_queries);

}  // namespace tapehead
