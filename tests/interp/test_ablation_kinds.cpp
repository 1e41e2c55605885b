#include "tapehead/interp/ablation_kinds.h"

#include <limits>
#include <set>

#include "support/models.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Ablation ablation(AblationKind kind, const Site& component, double change) {
  return {.removal = {kind, {component}}, .change_induction = {change, change - 0.1, change + 0.1}};
}

/// Of a component whose zero, pattern-preserving and value-preserving ablation change the loss by so much.
Route route(double zero, double patterns, double values, const Site& component = head_output(0, 0)) {
  return route_of(ablation(AblationKind::zero, component, zero),
                  ablation(AblationKind::pattern_preserving, component, patterns),
                  ablation(AblationKind::value_preserving, component, values), attention_only());
}

}  // namespace

TEST_CASE("kinds disagree in size where their intervals do not meet") {
  CHECK(disagreement({1, 0.9, 1.1}, {1.2, 1.1, 1.3}) == Disagreement::none);
  CHECK(disagreement({1, 0.9, 1.1}, {1.2, 1.15, 1.3}) == Disagreement::size);
  CHECK(disagreement({1.2, 1.15, 1.3}, {1, 0.9, 1.1}) == Disagreement::size);
  CHECK(disagreement({-1, -1.1, -0.9}, {-2, -2.1, -1.9}) == Disagreement::size);
}

TEST_CASE("kinds disagree in sign where one change is above 0 and one below, unless both may be 0") {
  CHECK(disagreement({0.2, 0.1, 0.3}, {-0.2, -0.3, -0.1}) == Disagreement::sign);
  CHECK(disagreement({-0.2, -0.3, -0.1}, {0.01, -0.1, 0.12}) == Disagreement::sign);
  CHECK(disagreement({0.01, -0.1, 0.12}, {-0.01, -0.2, 0.1}) == Disagreement::none);
  CHECK(disagreement({0, 0, 0}, {0, 0, 0}) == Disagreement::none);
  constexpr double missing = std::numeric_limits<double>::quiet_NaN();
  CHECK(disagreement({missing, missing, missing}, {1, 1, 1}) == Disagreement::none);
}

TEST_CASE("a route is told by what shows, half of the change or more, with patterns and with values held") {
  CHECK(route(3, 0.1, 3) == Route::queries_and_keys);
  CHECK(route(3, 1.49, 1.5) == Route::queries_and_keys);
  CHECK(route(3, 3, -0.2) == Route::values);
  CHECK(route(3, 2, 2) == Route::direct);
  CHECK(route(3, 1, 1) == Route::together);
  CHECK(route(-3, -0.1, -3) == Route::queries_and_keys);
  CHECK(route(-3, 3, -3) == Route::queries_and_keys);
}

TEST_CASE("no route is told where there is no effect, or no later layer") {
  constexpr double missing = std::numeric_limits<double>::quiet_NaN();
  CHECK(route(0.05, 0.05, 0) == Route::no_effect);
  CHECK(route(missing, missing, missing) == Route::no_effect);
  CHECK(route(3, 3, 3, head_output(1, 0)) == Route::no_later_layer);
  CHECK(route(3, 3, 3, head_output(1)) == Route::no_later_layer);
  CHECK_THROWS_WITH_AS(
      route_of(ablation(AblationKind::zero, head_output(0, 0), 1),
               ablation(AblationKind::mean, head_output(0, 0), 1),
               ablation(AblationKind::value_preserving, head_output(0, 0), 1), attention_only()),
      doctest::Contains("of the same components"), Error);
  CHECK_THROWS_AS(route_of(ablation(AblationKind::zero, head_output(0, 0), 1),
                           ablation(AblationKind::pattern_preserving, head_output(0, 1), 1),
                           ablation(AblationKind::value_preserving, head_output(0, 0), 1), attention_only()),
                  Error);
}

TEST_CASE("every route has words of its own") {
  std::set<std::string_view> words;
  for (const Route route : {Route::no_effect, Route::no_later_layer, Route::queries_and_keys, Route::values,
                            Route::direct, Route::together})
    CHECK(words.insert(words_of(route)).second);
}
