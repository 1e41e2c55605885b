#include "tapehead/interp/ablation_kinds.h"

#include <algorithm>
#include <cmath>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

bool holds_zero(const Estimate& estimate) { return estimate.low <= 0 && estimate.high >= 0; }

}  // namespace

Disagreement disagreement(const Estimate& a, const Estimate& b) {
  if (a.mean * b.mean < 0 && !(holds_zero(a) && holds_zero(b))) return Disagreement::sign;
  return a.high < b.low || b.high < a.low ? Disagreement::size : Disagreement::none;
}

Route route_of(const Ablation& zero, const Ablation& patterns_held, const Ablation& values_held,
               const ModelConfig& config) {
  require(
      zero.removal.kind == AblationKind::zero &&
          patterns_held.removal.kind == AblationKind::pattern_preserving &&
          values_held.removal.kind == AblationKind::value_preserving &&
          zero.removal.components == patterns_held.removal.components &&
          zero.removal.components == values_held.removal.components,
      "[ablation] expected zero, pattern-preserving and value-preserving ablation of the same components");
  const double whole = zero.change_induction.mean;
  if (!(std::abs(whole) > 0) || holds_zero(zero.change_induction)) return Route::no_effect;
  if (std::ranges::all_of(zero.removal.components,
                          [&](const Site& component) { return component.layer == config.layers - 1; }))
    return Route::no_later_layer;
  const bool shown_by_values = patterns_held.change_induction.mean / whole >= kShownShare;
  const bool shown_by_patterns = values_held.change_induction.mean / whole >= kShownShare;
  if (shown_by_patterns && shown_by_values) return Route::direct;
  if (shown_by_patterns) return Route::queries_and_keys;
  return shown_by_values ? Route::values : Route::together;
}

std::string_view words_of(Route route) {
  switch (route) {
    case Route::no_effect:
      return "no effect to follow";
    case Route::no_later_layer:
      return "last layer: no later head reads it";
    case Route::queries_and_keys:
      return "through queries and keys of later heads";
    case Route::values:
      return "through values of later heads";
    case Route::direct:
      return "straight to the logits, or by either route";
    case Route::together:
      return "through queries, keys and values together";
  }
  ensure(false, "no words for route {}", static_cast<int>(route));
  return {};
}

}  // namespace tapehead
