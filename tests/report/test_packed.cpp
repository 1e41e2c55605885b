#include "tapehead/report/packed.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Numbers = std::vector<Real>;

}  // namespace

TEST_CASE("numbers come back to half a scale, the largest exactly") {
  Numbers numbers;
  for (int i = -50; i <= 50; ++i) numbers.push_back(static_cast<Real>(std::sin(i) * i));
  const Packed made = packed(numbers);
  const std::vector<double> back = unpacked(made);
  REQUIRE(back.size() == numbers.size());
  double largest = 0;
  for (std::size_t i = 0; i < back.size(); ++i) {
    CHECK(std::abs(back[i] - static_cast<double>(numbers[i])) <= made.scale * 0.5001);
    largest = std::max(largest, std::abs(back[i]));
  }
  CHECK(made.scale == doctest::Approx(largest / 32767));
}

TEST_CASE("shares are packed on one scale, so that equal shares have equal text") {
  CHECK(packed_shares(Numbers{0, 1, Real{0.5}}).data == "AAD/fwBA");  // 0, 32767, 16384, lower bytes first
  CHECK(packed_shares(Numbers{1}).data == packed_shares(Numbers{2}).data);  // what is no share is cut to one
  CHECK(unpacked(packed_shares(Numbers{Real{0.25}})).front() == doctest::Approx(0.25).epsilon(1e-4));
}

TEST_CASE("what is not finite stays so, and nothing stays nothing") {
  constexpr Real infinite = std::numeric_limits<Real>::infinity();
  const std::vector<double> back =
      unpacked(packed(Numbers{1, std::numeric_limits<Real>::quiet_NaN(), infinite, 0}));
  CHECK(back[0] == doctest::Approx(1));
  CHECK(std::isnan(back[1]));
  CHECK(std::isnan(back[2]));
  CHECK(back[3] == 0);
  CHECK(unpacked(packed(Numbers{})).empty());
  CHECK(unpacked(packed(Numbers{0, 0})) == std::vector<double>{0, 0});
}

TEST_CASE("every length of base64 comes back, and damaged text is refused") {
  for (std::size_t count = 0; count < 8; ++count)
    CHECK(unpacked(packed_shares(Numbers(count, Real{1}))) == std::vector<double>(count, 1));
  for (const char* text : {"AAA", "AA=A", "====", "A===", "AA A", "AAAA", "AA==AAAA"})
    CHECK_THROWS_AS(unpacked({1, text}), Error);
}
