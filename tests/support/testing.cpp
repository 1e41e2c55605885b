#include "support/testing.h"

#include <cmath>
#include <vector>

#include "tapehead/base/random.h"

namespace tapehead::testing {

void check_close(const Tensor& actual, const Tensor& expected, double tolerance) {
  REQUIRE(to_string(actual.shape()) == to_string(expected.shape()));
  for (Index i = 0; i < actual.count(); ++i) {
    CAPTURE(i);
    const double a = static_cast<double>(actual.data()[i]);
    const double e = static_cast<double>(expected.data()[i]);
    CAPTURE(a);
    CAPTURE(e);
    CHECK(std::abs(a - e) <= tolerance * std::max(1.0, std::abs(e)));
  }
}

void check_close(const Tensor& actual, const Shape& shape, std::initializer_list<double> expected,
                 double tolerance) {
  std::vector<Real> values;
  for (const double value : expected) values.push_back(static_cast<Real>(value));
  check_close(actual, Tensor(shape, values), tolerance);
}

Tensor random_tensor(const Shape& shape, std::uint64_t seed, double scale) {
  Generator generator(seed);
  Tensor tensor(shape);
  for (Real& value : tensor.values()) value = static_cast<Real>(scale * generator.normal());
  return tensor;
}

}  // namespace tapehead::testing
