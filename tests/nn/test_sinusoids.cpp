#include "tapehead/nn/sinusoids.h"

#include <cmath>

#include "support/testing.h"

namespace tapehead {

TEST_CASE("the table of positions has sines in even columns and cosines in odd ones, each pair slower") {
  const Tensor table = sinusoids(5, 6);
  CHECK(to_string(table.shape()) == "(5, 6)");
  for (Index t = 0; t < 5; ++t)
    for (Index i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(t) / std::pow(10000.0, static_cast<double>(2 * i) / 6);
      CHECK(static_cast<double>(table(t, 2 * i)) == doctest::Approx(std::sin(angle)).epsilon(1e-6));
      CHECK(static_cast<double>(table(t, 2 * i + 1)) == doctest::Approx(std::cos(angle)).epsilon(1e-6));
    }
}

}  // namespace tapehead
