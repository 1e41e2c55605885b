#include "tapehead/kernels/lanes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/testing.h"

namespace tapehead::kernels {

namespace {

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

/// 1, 2, 4, ...: a sum of some of them says which.
std::vector<Real> powers_of_two() {
  std::vector<Real> powers(Lanes::size);
  for (std::size_t i = 0; i < powers.size(); ++i) powers[i] = std::ldexp(Real{1}, static_cast<int>(i));
  return powers;
}

Real lane(const Lanes& value, Index i) { return value.get(static_cast<std::size_t>(i)); }

}  // namespace

TEST_CASE("a load takes as many numbers as asked for, and fills the other lanes") {
  const std::vector<Real> numbers = powers_of_two();
  for (Index count = 0; count <= kLanes; ++count) {
    CAPTURE(count);
    // An array of just that size: the sanitizer sees a number too many.
    const std::vector<Real> part(numbers.begin(), numbers.begin() + count);
    const Lanes zeros_after = load(part.data(), count);
    const Lanes nan_after = load(part.data(), count, kNan);
    for (Index i = 0; i < kLanes; ++i) {
      CHECK(lane(zeros_after, i) == (i < count ? numbers[static_cast<std::size_t>(i)] : 0));
      CHECK((i < count ? lane(nan_after, i) == numbers[static_cast<std::size_t>(i)]
                       : std::isnan(lane(nan_after, i))));
    }
  }
}

TEST_CASE("a square of vectors is transposed") {
  Square square;
  for (Index row = 0; row < kLanes; ++row)
    square[static_cast<std::size_t>(row)] = lane_numbers() + Lanes(static_cast<Real>(100 * row));
  transpose(square);
  for (Index row = 0; row < kLanes; ++row)
    for (Index i = 0; i < kLanes; ++i)
      CHECK(lane(square[static_cast<std::size_t>(row)], i) == static_cast<Real>(100 * i + row));
}

TEST_CASE("a store writes as many lanes as asked for, and nothing after them") {
  const std::vector<Real> numbers = powers_of_two();
  const Lanes value = load(numbers.data(), kLanes);
  for (Index count = 0; count <= kLanes; ++count) {
    CAPTURE(count);
    std::vector<Real> to(Lanes::size + 1, -1);
    store(to.data(), value, count);
    for (Index i = 0; i <= kLanes; ++i)
      CHECK(to[static_cast<std::size_t>(i)] == (i < count ? numbers[static_cast<std::size_t>(i)] : -1));
  }
}

TEST_CASE("a put adds to what is there, or takes no notice of it, and writes nothing after its lanes") {
  const std::vector<Real> numbers = powers_of_two();
  const Lanes value = load(numbers.data(), kLanes);
  for (Index count = 0; count <= kLanes; ++count) {
    CAPTURE(count);
    std::vector<Real> sum(Lanes::size + 1, Real(0.5));
    std::vector<Real> fresh(Lanes::size + 1, kNan);
    put(Sink(sum.data()), value, count);
    put(Sink(fresh.data(), 0), value, count);
    for (Index i = 0; i <= kLanes; ++i) {
      const auto place = static_cast<std::size_t>(i);
      CHECK(sum[place] == (i < count ? numbers[place] + Real(0.5) : Real(0.5)));
      CHECK((i < count ? fresh[place] == numbers[place] : std::isnan(fresh[place])));
    }
  }
}

TEST_CASE("every lane knows its number") {
  for (Index i = 0; i < kLanes; ++i) CHECK(lane(lane_numbers(), i) == static_cast<Real>(i));
}

TEST_CASE("a loop in lanes covers every number once, in order, in whole vectors but for the last") {
  for (Index count = 0; count <= 3 * kLanes + 1; ++count) {
    CAPTURE(count);
    Index next = 0;
    for_each_lanes(count, [&](Index offset, Index lanes) {
      CHECK(offset == next);
      CHECK(lanes == std::min(kLanes, count - offset));
      next = offset + lanes;
    });
    CHECK(next == count);
  }
}

TEST_CASE("a sum has every lane in it once, and so has any other operation of two") {
  const std::vector<Real> numbers = powers_of_two();
  const Lanes value = load(numbers.data(), kLanes);
  const Real all = std::ldexp(Real{1}, static_cast<int>(Lanes::size)) - 1;
  CHECK(sum_of(value) == all);
  CHECK(reduce(value, [](const Lanes& a, const Lanes& b) { return a + b; }) == all);
  CHECK(reduce(lane_numbers() + Real{1}, [](const Lanes& a, const Lanes& b) { return xsimd::max(a, b); }) ==
        static_cast<Real>(kLanes));
  CHECK(reduce(lane_numbers() + Real{1}, [](const Lanes& a, const Lanes& b) { return xsimd::min(a, b); }) ==
        1);
}

TEST_CASE("the largest of all lanes is found in each of them") {
  for (Index place = 0; place < kLanes; ++place) {
    CAPTURE(place);
    std::vector<Real> numbers(Lanes::size, -3);
    numbers[static_cast<std::size_t>(place)] = -2;
    CHECK(largest_of(load(numbers.data(), kLanes)) == -2);
    numbers[static_cast<std::size_t>(place)] = -std::numeric_limits<Real>::infinity();
    CHECK(largest_of(load(numbers.data(), kLanes)) == -3);
  }
}

}  // namespace tapehead::kernels
