/// From queries and keys to the attention pattern, by the form that a config asks for.
#pragma once

#include <optional>
#include <vector>

#include "tapehead/autograd/attention.h"
#include "tapehead/nn/model_config.h"
#include "tapehead/nn/rms_norm.h"

namespace tapehead {

/// What becomes of queries and keys.
struct ScoringConfig {
  ScoreForm form = ScoreForm::dot;
  bool scaled = true;                     ///< products are divided by sqrt(D)
  bool query_key_norm = false;            ///< RMSNorm of every head's query and key
  bool smeared_keys = false;              ///< a key is mixed with the one before it
  Positions positions = Positions::none;  ///< rotary and alibi act here, others do not
};

/// The part of a model's config that concerns them.
ScoringConfig scoring_of(const ModelConfig& config);

/// What lies between the projections and the pattern, in this order, where the config has it: keys are
/// smeared; queries meet the matrix of bilinear scores; each head's queries and keys are normalised; both are
/// turned by their position; and they are scored. Without any of these the pattern is softmax(q kᵀ/sqrt(D)).
class AttentionScores {
 public:
  /// Registers, where wanted: `smear` (H), zeros, a gate at one half; `bilinear` (H*D, D) and `additive` (H,
  /// D), normal with deviation 1/sqrt(D); `query_norm.gain` and `key_norm.gain` (D), ones.
  /// `context` is the largest K. Throws Error for rotary positions of heads with an odd width, or with
  /// additive scores.
  AttentionScores(const Scope& scope, Index width, Index heads, Index context, const ScoringConfig& config);

  /// The pattern (B, H, T, K) from queries (B, T, H*D) of the last T positions and keys (B, K, H*D).
  Variable pattern(const Pass& pass, const Variable& queries, const Variable& keys,
                   const AttentionMask& mask) const;

  /// The pattern times values (B, K, H*D), which is never held: (B, T, H*D). Throws Error for
  /// additive scores.
  Variable mix(const Pass& pass, const Variable& queries, const Variable& keys, const Variable& values,
               const AttentionMask& mask) const;

 private:
  struct Pair {
    Variable queries;
    Variable keys;
  };
  /// What is left of queries and keys to be scored.
  Pair prepared(const Pass& pass, Variable queries, Variable keys, const Mask& visible) const;
  Scoring scoring() const;

  Index heads_;
  double scale_;
  std::vector<Real> slopes_;  // of alibi
  Tensor angles_;             // (context, D) of rotary
  std::optional<Parameter> smear_;
  std::optional<Parameter> bilinear_;
  std::optional<Parameter> additive_;
  std::optional<RmsNorm> query_norm_;
  std::optional<RmsNorm> key_norm_;
};

/// The slopes of `heads` heads (Press et al. 2022, section 3): 2^(-8/n), its square, and so on for n heads, n
/// a power of two; for other numbers those of the next power of two below, then every second of the next one
/// above.
std::vector<Real> alibi_slopes(Index heads);

}  // namespace tapehead
