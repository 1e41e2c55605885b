/// What the heads of a model do by their weights alone (Elhage et al. 2021, "A mathematical framework for
/// transformer circuits").
///
/// The matrices are those of head_weights.h, which says what of a layer norm is folded and what is held.
/// Every number here is about paths that go from the embedding through the heads named, and straight on;
/// feed-forward parts are passed over. Where queries and keys are normalised, or scores additive, there is no
/// matrix W_Q W_Kᵀ: then what rests on it is NaN, or empty. Smeared keys and rotary or ALiBi positions are
/// passed over too: QK is that of two tokens at the same place.
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "tapehead/interp/composition.h"
#include "tapehead/train/config.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

/// One head's circuits.
struct HeadCircuits {
  Index layer = 0;
  Index head = 0;
  /// Mean of the entries one below the diagonal of the causal softmax of W_pos W_Q W_Kᵀ W_posᵀ/√D: what the
  /// head would look at by position alone. Chance is (H_T - 1)/(T - 1); NaN without positions.
  double previous_token = 0;
  /// Full OV in tokens, W_E W_V W_O W_U: share of rows (the token attended to) in which the diagonal (the
  /// same token's logit) is the largest, and among the five largest; others as large count against it. Chance
  /// 1/V and 5/V.
  double copying_top1 = 0;
  double copying_top5 = 0;
  /// Σ Re λ / Σ |λ| of its eigenvalues, from -1 (every direction is turned round) to 1; NaN for a head of 0.
  double copying_eigenvalues = 0;
  std::vector<std::complex<double>> ov = {};         ///< eigenvalues of W_V W_O, D of them
  std::vector<std::complex<double>> qk = {};         ///< of W_Q W_Kᵀ/√D
  std::vector<std::complex<double>> ov_tokens = {};  ///< of W_E W_V W_O W_U
  std::vector<double> ov_singular = {};              ///< singular values of W_V W_O
  std::vector<double> qk_singular = {};              ///< of W_Q W_Kᵀ/√D
};

/// A head and one of an earlier layer that it may read.
struct HeadPair {
  Index earlier_layer = 0;
  Index earlier_head = 0;
  Index layer = 0;
  Index head = 0;
  std::array<double, kCompositionNames.size()> scores{};  ///< see composition_score
  TokenComposition tokens = {};
};

struct CircuitOptions {
  Index positions = 0;              ///< of W_pos, the first ones; 0: all of the context
  Index tokens = 512;               ///< a larger vocabulary is sampled: see Circuits::tokens
  std::vector<double> scales = {};  ///< the layer norms' factors are held at, see attention_scales
  int threads = 1;
};

struct Circuits {
  Index vocabulary = 0;
  Index positions = 0;
  Index tokens = 0;  ///< rows of full OV, and both sides of K-composition in tokens: V, or a sample from a
                     ///< fixed stream
  std::vector<HeadCircuits> heads;
  std::vector<HeadPair> pairs;
  Baseline baseline;

  /// Of an even pattern: (H_T - 1)/(T - 1).
  double chance_previous_token() const;
};

/// As many positions as a model of this config was trained on, as far as that is known, but at most 1,024,
/// and the layer norms' factors as they are on the batch.
CircuitOptions usual_circuit_options(const Transformer& model, const Config& config, const Batch& batch,
                                     const EvaluateOptions& options = {});

/// One head's. Throws Error as circuits_of, and for a head that the model does not have.
HeadCircuits circuits_of_head(const Transformer& model, Index layer, Index head,
                              const CircuitOptions& options = {});

/// The same bits for any number of threads. Throws Error for more positions than the context, and for fewer
/// than 1 token.
Circuits circuits_of(const Transformer& model, const CircuitOptions& options = {});

/// Σ Re λ / Σ |λ|; NaN where all are 0.
double positive_share(const std::vector<std::complex<double>>& eigenvalues);

}  // namespace tapehead
