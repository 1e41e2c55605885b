#include "tapehead/text/sampling.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

void check_chances(const std::vector<double>& actual, const std::vector<double>& expected,
                   double tolerance = 1e-6) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t id = 0; id < actual.size(); ++id) {
    CAPTURE(id);
    CHECK(std::abs(actual[id] - expected[id]) <= tolerance);
  }
  CHECK(std::accumulate(actual.begin(), actual.end(), 0.0) == doctest::Approx(1).epsilon(1e-12));
}

const std::vector<Real> kNegative{-5, -6, -7, -8};

}  // namespace

TEST_CASE("chances are the softmax of the logits over the temperature") {
  const double all = std::exp(-5) + std::exp(-6) + std::exp(-7) + std::exp(-8);
  check_chances(token_chances(kNegative, {}),
                {std::exp(-5) / all, std::exp(-6) / all, std::exp(-7) / all, std::exp(-8) / all});
  const std::vector<Real> two{1, 3};
  check_chances(token_chances(two, {.temperature = 2}),
                {1 / (1 + std::exp(1)), std::exp(1) / (1 + std::exp(1))});
}

TEST_CASE("at temperature zero the likeliest token has every chance, the first of equals") {
  check_chances(token_chances(std::vector<Real>{1, 3, 2}, {.temperature = 0}), {0, 1, 0});
  check_chances(token_chances(std::vector<Real>{1, 3, 3}, {.temperature = 0, .top_k = 3, .top_p = 0.1}),
                {0, 1, 0});
}

TEST_CASE("of the k likeliest tokens none loses to those that are left out, however negative its logit") {
  check_chances(token_chances(kNegative, {.top_k = 2}), {0.731059, 0.268941, 0, 0});
  check_chances(token_chances(kNegative, {.top_k = 1}), {1, 0, 0, 0});
  check_chances(token_chances(kNegative, {.top_k = 9}), token_chances(kNegative, {}));
  check_chances(token_chances(std::vector<Real>{2, 2, 2}, {.top_k = 2}), {0.5, 0.5, 0});
}

TEST_CASE("the fewest tokens that together have the chance p are left") {
  const std::vector<Real> logits{std::log(Real(0.1)), std::log(Real(0.5)), std::log(Real(0.15)),
                                 std::log(Real(0.25))};
  check_chances(token_chances(logits, {.top_p = 0.4}), {0, 1, 0, 0});
  check_chances(token_chances(logits, {.top_p = 0.6}), {0, 0.5 / 0.75, 0, 0.25 / 0.75});
  check_chances(token_chances(logits, {.top_p = 0.8}), {0, 0.5 / 0.9, 0.15 / 0.9, 0.25 / 0.9});
  check_chances(token_chances(logits, {.top_p = 1}), {0.1, 0.5, 0.15, 0.25});
  check_chances(token_chances(logits, {.top_k = 3, .top_p = 0.8}), {0, 0.5 / 0.75, 0, 0.25 / 0.75});
}

TEST_CASE("logits far apart, and a temperature near zero, give no number that is not finite") {
  const Real huge = std::numeric_limits<Real>::max() / 2;
  check_chances(token_chances(std::vector<Real>{-huge, huge, 0}, {}), {0, 1, 0});
  check_chances(token_chances(std::vector<Real>{1, 2}, {.temperature = 1e-300}), {0, 1});
  check_chances(token_chances(std::vector<Real>{1, 2}, {.temperature = 1e300}), {0.5, 0.5});
}

TEST_CASE("settings out of range, and logits that cannot be chosen by, are refused") {
  const auto with = [](const SamplingConfig& config) {
    return complaint_of([&] { token_chances(kNegative, config); });
  };
  CHECK(with({.temperature = -1}) == "[sampling] expected a temperature of at least 0, got -1");
  CHECK(with({.temperature = std::nan("")}).find("temperature") != std::string::npos);
  CHECK(with({.top_k = 0}) == "[sampling] expected a top-k of at least 1, got 0");
  CHECK(with({.top_p = 0}) == "[sampling] expected a top-p above 0 and at most 1, got 0");
  CHECK(with({.top_p = 1.5}).find("top-p") != std::string::npos);
  CHECK(failure_of([] { token_chances({}, {}); }) == "[sampling] there are no logits to choose by");
  const std::vector<Real> broken{1, std::numeric_limits<Real>::quiet_NaN()};
  CHECK(failure_of([&] { token_chances(broken, {}); }) == "[sampling] a logit is not finite");
}

TEST_CASE("tokens are drawn as often as their chances say, and those without a chance never") {
  const std::vector<double> chances{0, 0.2, 0, 0.5, 0.3, 0};
  Generator generator(3, Purpose::sampling);
  std::vector<double> counts(chances.size(), 0);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(draw_token(chances, generator))];
  for (std::size_t id = 0; id < chances.size(); ++id) {
    // Five standard deviations of a count.
    const double spread = 5 * std::sqrt(kDraws * chances[id] * (1 - chances[id]));
    CHECK(std::abs(counts[id] - kDraws * chances[id]) <= spread);
  }
}
