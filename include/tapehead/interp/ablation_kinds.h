/// What several kinds of ablation say together about the same components.
///
/// Zero, mean and resample ablation answer one question, what the model loses, with another stand-in each;
/// where they disagree, the answer depends on the stand-in. Pattern- and value-preserving ablation tell by
/// which route zero ablation's loss comes about.
#pragma once

#include <string_view>

#include "tapehead/interp/ablation.h"

namespace tapehead {

/// How far two changes are from one another.
enum class Disagreement {
  none,
  size,  ///< their intervals do not meet
  sign,  ///< one is above 0 and one below, unless both intervals hold 0
};

Disagreement disagreement(const Estimate& a, const Estimate& b);

/// How a head's output reaches the loss. Both holding kinds leave the direct path open, straight to the
/// logits and through feed-forward parts, so what goes there shows in both.
enum class Route {
  no_effect,         ///< the interval of zero ablation holds 0
  no_later_layer,    ///< nothing could be held: it is in the last layer
  queries_and_keys,  ///< shows with values held, hidden with patterns held
  values,            ///< shows with patterns held, hidden with values held
  direct,            ///< shows in both
  together,          ///< hidden in both: it takes both routes at once
};

/// An effect shows if it has at least this share of zero ablation's change in loss on induction positions.
inline constexpr double kShownShare = 0.5;

/// From the same components taken out by zero, pattern-preserving and value-preserving ablation.
Route route_of(const Ablation& zero, const Ablation& patterns_held, const Ablation& values_held,
               const ModelConfig& config);
std::string_view words_of(Route route);

}  // namespace tapehead
