#include "tapehead/interp/bootstrap.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "support/testing.h"
#include "tapehead/base/random.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool same_estimate(const Estimate& a, const Estimate& b) {
  return std::memcmp(&a, &b, sizeof(Estimate)) == 0;
}

std::vector<double> normals(Generator& generator, std::size_t count, double mean) {
  std::vector<double> values(count);
  for (double& value : values) value = mean + generator.normal();
  return values;
}

}  // namespace

TEST_CASE("the bootstrap of equal values has no width") {
  CHECK(same_estimate(bootstrap({0.75, 0.75, 0.75}, 1), {0.75, 0.75, 0.75}));
  CHECK(same_estimate(bootstrap({-2}, 1), {-2, -2, -2}));
}

TEST_CASE("the bootstrap leaves missing values out, and is missing where there are none") {
  const std::vector<double> values{1, 2, 4, 8, 16};
  const Estimate estimate = bootstrap(values, 3);
  CHECK(estimate.mean == 6.2);
  CHECK(estimate.low >= 1);
  CHECK(estimate.low < estimate.mean);
  CHECK(estimate.mean < estimate.high);
  CHECK(estimate.high <= 16);
  CHECK(same_estimate(bootstrap({kMissing, 1, 2, kMissing, 4, 8, 16, kMissing}, 3), estimate));
  for (const Estimate& none : {bootstrap({}, 1), bootstrap({kMissing, kMissing}, 1)}) {
    CHECK(std::isnan(none.mean));
    CHECK(std::isnan(none.low));
    CHECK(std::isnan(none.high));
  }
}

TEST_CASE("the bootstrap is a function of its values and its seed") {
  Generator generator(1);
  const std::vector<double> values = normals(generator, 50, 0);
  CHECK(same_estimate(bootstrap(values, 1), bootstrap(values, 1)));
  CHECK_FALSE(same_estimate(bootstrap(values, 1), bootstrap(values, 2)));
  CHECK(bootstrap(values, 1).mean == bootstrap(values, 2).mean);
}

TEST_CASE("the interval of many values is as wide as the normal approximation says") {
  Generator generator(2);
  const std::vector<double> values = normals(generator, 400, 3);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 400;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half_width = 1.959964 * std::sqrt(squares / 400 / 400);
  const Estimate estimate = bootstrap(values, 1);
  CHECK(estimate.mean == doctest::Approx(mean).epsilon(1e-12));
  CHECK(estimate.low == doctest::Approx(mean - half_width).epsilon(0.1 * half_width / mean));
  CHECK(estimate.high == doctest::Approx(mean + half_width).epsilon(0.1 * half_width / mean));
}

TEST_CASE("the bootstrap interval covers the true mean about 95 times in a hundred") {
  constexpr int kSamples = 400;
  Generator generator(3);
  int below = 0;
  int above = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Estimate estimate = bootstrap(normals(generator, 40, 1.5), 1);
    below += estimate.high < 1.5 ? 1 : 0;
    above += estimate.low > 1.5 ? 1 : 0;
  }
  // Three standard errors around 5 %, of which either side has about its half.
  CHECK(below + above >= 7);
  CHECK(below + above <= 33);
  CHECK(below <= 22);
  CHECK(above <= 22);
}

TEST_CASE("many lists of one seed get the estimates that each gets alone, in any order") {
  Generator generator(4);
  const std::vector<double> first = normals(generator, 20, 0);
  const std::vector<double> second = normals(generator, 7, 1);
  Bootstrap estimate(3);
  for (const std::vector<double>& values : {first, second, first, second})
    CHECK(same_estimate(estimate(values), bootstrap(values, 3)));
  CHECK_FALSE(same_estimate(Bootstrap(4)(first), bootstrap(first, 3)));
}

TEST_CASE("differences are of pairs of values and of nothing else") {
  CHECK(differences({3, 1}, {1, 4}) == std::vector<double>{2, -3});
  CHECK(failure_of([] { differences({3, 1}, {1}); }) == "[bootstrap] expected pairs of values, got 2 and 1");
}

TEST_CASE("a ratio is that of the means, resampled in pairs") {
  // Every pair has the same ratio, so no resample has another.
  const std::vector<double> below{1, 2, 5, 9};
  const Estimate same = Bootstrap().ratio({0.5, 1, 2.5, 4.5}, below);
  CHECK(same.mean == 0.5);
  CHECK(same.low == doctest::Approx(0.5));
  CHECK(same.high == doctest::Approx(0.5));
  // Resampled apart from one another the ends would be 1/9 and 9 of the ratio.
  const Estimate paired = Bootstrap().ratio(below, below);
  CHECK(paired.low == 1);
  CHECK(paired.high == 1);
  const Estimate spread = Bootstrap().ratio({1, 0, 4, 2}, {1, 1, 1, 1});
  const Estimate mean = bootstrap({1, 0, 4, 2});
  CHECK(spread.mean == mean.mean);
  CHECK(spread.low == mean.low);
  CHECK(spread.high == mean.high);
  CHECK_THROWS_AS(Bootstrap().ratio({1}, {1, 2}), Error);
  CHECK_THROWS_AS(Bootstrap().ratio({}, {}), Error);
}

TEST_CASE("a mean of known values leaves out those that are missing") {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  CHECK(known_mean({1, missing, 4}) == 2.5);
  CHECK(std::isnan(known_mean({missing})));
  CHECK(std::isnan(known_mean({})));
}
