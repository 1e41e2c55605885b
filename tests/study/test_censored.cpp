#include "tapehead/study/censored.h"

#include <vector>

#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;

namespace {

/// Runs up to step 100, except where a number is negative: not by the step of that size.
std::vector<Censored> runs_of(const std::vector<double>& values) {
  std::vector<Censored> runs;
  for (const double value : values)
    runs.push_back(value < 0 ? Censored{{}, static_cast<Index>(-value)} : Censored{value, 100});
  return runs;
}

}  // namespace

TEST_CASE("quartiles of values that are all known lie on the line between ranked neighbours") {
  const CensoredQuartiles four = quartiles(runs_of({40, 10, 30, 20}));
  CHECK(four.lower.value == 17.5);
  CHECK(four.median.value == 25);
  CHECK(four.upper.value == 32.5);
  CHECK(four.known == 4);
  CHECK(four.runs == 4);
  const CensoredQuartiles five = quartiles(runs_of({5, 4, 3, 2, 1}));
  CHECK(five.lower.value == 2);
  CHECK(five.median.value == 3);
  CHECK(five.upper.value == 4);
  const CensoredQuartiles one = quartiles(runs_of({7}));
  CHECK(one.lower.value == 7);
  CHECK(one.upper.value == 7);
}

TEST_CASE("a censored run ranks above all others, whatever its last step") {
  const CensoredQuartiles five = quartiles(runs_of({30, -5, 10, 20, 40}));
  CHECK(five.lower.value == 20);
  CHECK(five.median.value == 30);
  CHECK(five.upper.value == 40);
  CHECK(five.known == 4);
  CHECK(five.runs == 5);
}

TEST_CASE("a quantile that falls on a censored run is not by the first of their last steps") {
  const CensoredQuartiles five = quartiles(runs_of({10, -80, 20, -60, -100}));
  CHECK(five.lower.value == 20);
  CHECK_FALSE(five.median.value);
  CHECK(five.median.not_by == 60);
  CHECK(five.upper.not_by == 60);
  // Between a known and a censored run there is no number either.
  const CensoredQuartiles two = quartiles(runs_of({10, -100}));
  CHECK_FALSE(two.lower.value);
  CHECK_FALSE(two.median.value);
  CHECK(two.median.not_by == 100);
  const CensoredQuartiles none = quartiles(runs_of({-100, -100}));
  CHECK(none.known == 0);
  CHECK(none.lower.not_by == 100);
}

TEST_CASE("quantiles of no runs, and beyond 0 to 1, are refused") {
  CHECK_THROWS_WITH_AS(quartiles({}), doctest::Contains("at least one run"), Error);
  const std::vector<Censored> runs = runs_of({1});
  CHECK_THROWS_AS(quantile(runs, 1.1), Error);
  CHECK_THROWS_AS(quantile(runs, -0.1), Error);
}
