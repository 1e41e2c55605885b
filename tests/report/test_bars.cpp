#include "tapehead/report/bars.h"

#include <limits>

#include "support/testing.h"

using namespace tapehead;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Two groups: bars of 3 and of -1, with intervals of 0.1 to each side; the second colour has none.
std::vector<Bars> bars_up_and_down() {
  return {{"$a", "#000000", 0, {3, -1}, {2.9, -1.1}, {3.1, -0.9}},
          {"$b", "#000000", 0, {kMissing, kMissing}, {kMissing, kMissing}, {kMissing, kMissing}}};
}

}  // namespace

TEST_CASE("the axis of bars holds their intervals, 0 and what else is asked for, with room for the heights") {
  const BarRange range = range_of(bars_up_and_down(), 0, 320);
  CHECK(range.margin == doctest::Approx(4.2 * 32 / 320));
  CHECK(range.high == doctest::Approx(3.1 + range.margin));
  CHECK(range.low == doctest::Approx(-1.1 - range.margin));
  const BarRange higher = range_of({{"$a", "#000000", 0, {3}, {kMissing}, {kMissing}}}, 5, 320);
  CHECK(higher.low == 0);
  CHECK(higher.high == doctest::Approx(5.5));
}

TEST_CASE("a level line goes through a height only just beyond the bar and its interval") {
  const std::vector<Bars> bars = bars_up_and_down();
  const BarRange range = range_of(bars, 0, 320);
  const double third = range.margin / 3;
  CHECK(crosses_height(bars[0], range, 0, 3.1 + third));
  CHECK_FALSE(crosses_height(bars[0], range, 0, 3));
  CHECK_FALSE(crosses_height(bars[0], range, 0, 3.1 + range.margin));
  CHECK_FALSE(crosses_height(bars[0], range, 1, 3.1 + third));
  CHECK(crosses_height(bars[0], range, 1, -1.1 - third));
  CHECK_FALSE(crosses_height(bars[1], range, 0, 3.1 + third));
}
