#include "tapehead/report/bars.h"

#include <limits>

#include "support/testing.h"
#include "tapehead/report/lettering.h"
#include "tapehead/report/style.h"

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
  const BarNumbers numbers{.is_upright = false, .extent = 14};
  const BarRange range = range_of(bars_up_and_down(), 0, 320, numbers);
  const double pixel = (range.high - range.low) / 320;
  CHECK(range.high == doctest::Approx(3.1 + 22 * pixel));
  CHECK(range.low == doctest::Approx(-1.1 - 22 * pixel));
  CHECK(range.beyond == doctest::Approx(11 * pixel));
  const BarRange higher = range_of({{"$a", "#000000", 0, {3}, {kMissing}, {kMissing}}}, 5, 320, numbers);
  CHECK(higher.low == 0);
  CHECK(higher.high == doctest::Approx(5 * 320.0 / 298));
}

TEST_CASE("heights stand upright over bars that are narrower than they are, and take room along them") {
  const std::vector<Bars> bars{{"$a", "#000000", -0.2, {3}, {3}, {3}},
                               {"$b", "#000000", 0.2, {-1}, {-1}, {-1}}};
  const double width = text_width("+3.00", kSmallText);
  CHECK_FALSE(numbers_over(bars, (width + 3) / 0.4).is_upright);
  const BarNumbers upright = numbers_over(bars, width / 0.4);
  CHECK(upright.is_upright);
  CHECK(upright.extent == doctest::Approx(text_width("+3.00", kSmallText)));
}

TEST_CASE("groups that fit stand in one row, and others in rows of whole layers or of even parts of one") {
  CHECK(groups_in_a_row(6, 3, 364, 59) == 6);
  CHECK(groups_in_a_row(6, 3, 364, 80) == 3);
  CHECK(groups_in_a_row(36, 9, 800, 40) == 18);
  CHECK(groups_in_a_row(36, 9, 364, 60) == 5);
  CHECK(groups_in_a_row(36, 9, 10, 60) == 1);
  CHECK(group_width(364, 5) * (4 + 2 * kGroupEnds) == doctest::Approx(364));
}

TEST_CASE("a level line goes through a height only just beyond the bar and its interval") {
  const std::vector<Bars> bars = bars_up_and_down();
  const BarRange range = range_of(bars, 0, 320, {.is_upright = false, .extent = 14});
  CHECK(crosses_height(bars[0], range, 0, 3.1 + range.beyond));
  CHECK_FALSE(crosses_height(bars[0], range, 0, 3));
  CHECK_FALSE(crosses_height(bars[0], range, 0, 3.1 + 2 * range.beyond));
  CHECK_FALSE(crosses_height(bars[0], range, 1, 3.1 + range.beyond));
  CHECK(crosses_height(bars[0], range, 1, -1.1 - range.beyond));
  CHECK_FALSE(crosses_height(bars[1], range, 0, 3.1 + range.beyond));
}
