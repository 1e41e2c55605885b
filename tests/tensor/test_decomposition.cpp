#include "tapehead/tensor/decomposition.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "support/functions.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Tensor identity(Index n) {
  Tensor x({n, n});
  for (Index i = 0; i < n; ++i) x(i, i) = 1;
  return x;
}

Tensor plain_product(const Tensor& a, const Tensor& b) {
  Tensor c({a.shape()[0], b.shape()[1]});
  for (Index i = 0; i < a.shape()[0]; ++i)
    for (Index j = 0; j < b.shape()[1]; ++j)
      for (Index k = 0; k < a.shape()[1]; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}

Tensor transposed(const Tensor& x) {
  Tensor y({x.shape()[1], x.shape()[0]});
  for (Index i = 0; i < x.shape()[0]; ++i)
    for (Index j = 0; j < x.shape()[1]; ++j) y(j, i) = x(i, j);
  return y;
}

}  // namespace

TEST_CASE("the eigenvalues of a rotation lie on the unit circle at its angle, that above the axis first") {
  for (const double degrees : {30.0, 90.0, 120.0}) {
    const double angle = degrees * std::numbers::pi / 180;
    const auto c = static_cast<Real>(std::cos(angle));
    const auto s = static_cast<Real>(std::sin(angle));
    const auto values = eigenvalues(Tensor({2, 2}, {c, -s, s, c}), identity(2));
    REQUIRE(values.size() == 2);
    CHECK(values[0].real() == doctest::Approx(std::cos(angle)).epsilon(1e-6).scale(1));
    CHECK(values[0].imag() == doctest::Approx(std::sin(angle)).epsilon(1e-6).scale(1));
    CHECK(values[1] == std::conj(values[0]));
  }
}

TEST_CASE("a thin product has the eigenvalues that its rank leaves room for, the largest first") {
  // A diagonal matrix of five, of which two numbers are not zero, as (5, 2) times (2, 5).
  Tensor left({5, 2});
  Tensor right({2, 5});
  left(1, 0) = 2, right(0, 1) = 3;
  left(4, 1) = -1, right(1, 4) = 7;
  const auto values = eigenvalues(left, right);
  REQUIRE(values.size() == 2);
  CHECK(values[0] == std::complex<double>(-7, 0));
  CHECK(values[1] == std::complex<double>(6, 0));
}

TEST_CASE("eigenvalues sum to the trace, and their squares to that of the square") {
  const Tensor left = random_tensor({7, 4}, 1);
  const Tensor right = random_tensor({4, 7}, 2);
  const Tensor whole = plain_product(left, right);
  const Tensor square = plain_product(whole, whole);
  std::complex<double> sum = 0;
  std::complex<double> squares = 0;
  for (const auto& value : eigenvalues(left, right)) {
    sum += value;
    squares += value * value;
  }
  double trace = 0;
  double trace_of_square = 0;
  for (Index i = 0; i < 7; ++i) {
    trace += static_cast<double>(whole(i, i));
    trace_of_square += static_cast<double>(square(i, i));
  }
  const double tolerance = 10 * kRounding;
  CHECK(sum.real() == doctest::Approx(trace).epsilon(tolerance));
  CHECK(squares.real() == doctest::Approx(trace_of_square).epsilon(tolerance));
  CHECK(std::abs(sum.imag()) < 1e-12);
}

TEST_CASE("singular values of a thin product are those of the product itself") {
  Tensor left({3, 2}, {3, 0, 0, 4, 0, 0});
  Tensor right({2, 3}, {0, 1, 0, -1, 0, 0});
  auto values = singular_values(left, right);
  REQUIRE(values.size() == 2);
  CHECK(values[0] == doctest::Approx(4).epsilon(1e-12));
  CHECK(values[1] == doctest::Approx(3).epsilon(1e-12));

  left = random_tensor({7, 3}, 3);
  right = random_tensor({3, 5}, 4);
  values = singular_values(left, right);
  // Their squares are the eigenvalues of PᵀP that are not zero.
  const Tensor whole = plain_product(left, right);
  const auto squares = eigenvalues(transposed(whole), whole);
  REQUIRE(values.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(values[i] * values[i] == doctest::Approx(squares[i].real()).epsilon(10 * kRounding));
  // Wider than high.
  CHECK(singular_values(random_tensor({2, 4}, 5), random_tensor({4, 3}, 6)).size() == 2);
}

TEST_CASE("matrices that do not fit or hold no numbers are refused, and empty ones have no values") {
  CHECK_THROWS_WITH_AS(eigenvalues(Tensor({3, 2}), Tensor({3, 3})),
                       doctest::Contains("expected matrices (M, D) and (D, N), got (3, 2) and (3, 3)"),
                       Error);
  CHECK_THROWS_WITH_AS(eigenvalues(Tensor({3, 2}), Tensor({2, 4})),
                       doctest::Contains("expected matrices (N, D) and (D, N)"), Error);
  CHECK_THROWS_AS(singular_values(Tensor({3}), Tensor({3, 3})), Error);
  Tensor broken({2, 2});
  broken(1, 0) = std::numeric_limits<Real>::quiet_NaN();
  CHECK_THROWS_WITH_AS(eigenvalues(broken, identity(2)), doctest::Contains("finite"), Error);
  CHECK_THROWS_WITH_AS(singular_values(identity(2), broken), doctest::Contains("finite"), Error);
  CHECK(eigenvalues(Tensor({3, 0}), Tensor({0, 3})).empty());
  CHECK(singular_values(Tensor({3, 0}), Tensor({0, 3})).empty());
  for (const double value : singular_values(Tensor({4, 2}), Tensor({2, 4}))) CHECK(value == 0);
}
