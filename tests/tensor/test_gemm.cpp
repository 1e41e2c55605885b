#include "tapehead/tensor/gemm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "support/testing.h"

namespace tapehead {

namespace {

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

Real element(const Matrix& matrix, Index i, Index j) {
  return matrix.transposed ? matrix.data[j * matrix.stride + i] : matrix.data[i * matrix.stride + j];
}

/// The definition: one sum of products an element, in double.
Tensor product(const Matrix& a, const Matrix& b, Index m, Index n, Index k) {
  Tensor c({m, n});
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index p = 0; p < k; ++p)
        sum += static_cast<double>(element(a, i, p)) * static_cast<double>(element(b, p, j));
      c(i, j) = static_cast<Real>(sum);
    }
  return c;
}

/// Compares gemm with its definition on matrices whose rows lie `gap` numbers further apart than they are
/// long, and checks that no number between the rows of C was touched.
void compare(Index m, Index n, Index k, bool a_transposed, bool b_transposed, Index gap) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(a_transposed);
  CAPTURE(b_transposed);
  CAPTURE(gap);
  const Shape a_shape = a_transposed ? Shape{k, m + gap} : Shape{m, k + gap};
  const Shape b_shape = b_transposed ? Shape{n, k + gap} : Shape{k, n + gap};
  const Tensor a_rows = testing::random_tensor(a_shape, 1);
  const Tensor b_rows = testing::random_tensor(b_shape, 2);
  const Matrix a{a_rows.data(), a_shape[1], a_transposed};
  const Matrix b{b_rows.data(), b_shape[1], b_transposed};
  const Tensor expected = product(a, b, m, n, k);

  Tensor c(Shape{m, n + gap});
  c.fill(kNan);
  gemm(c.data(), n + gap, a, b, m, n, k, 1, 0);
  Tensor accumulated(Shape{m, n});
  accumulated.fill(3);
  gemm(accumulated.data(), n, a, b, m, n, k, 2, 1);
  double worst = 0;
  bool gaps_untouched = true;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double right = static_cast<double>(expected(i, j));
      const double sum = 3 + 2 * right;
      // Comparisons are written so that a NaN counts as an error.
      for (const double error :
           {std::abs(static_cast<double>(c(i, j)) - right) / std::max(1.0, std::abs(right)),
            std::abs(static_cast<double>(accumulated(i, j)) - sum) / std::max(1.0, std::abs(sum))})
        worst = !(error <= worst) ? error : worst;
    }
    for (Index j = n; j < n + gap; ++j) gaps_untouched = gaps_untouched && std::isnan(c(i, j));
  }
  CHECK(worst < testing::kRounding);
  CHECK(gaps_untouched);
}

}  // namespace

TEST_CASE("a product is right for every size, transpose and row distance") {
  for (const Index m : {1, 3, 17, 65})
    for (const Index n : {1, 3, 63})
      for (const Index k : {1, 17, 65})
        for (const bool a_transposed : {false, true})
          for (const bool b_transposed : {false, true})
            for (const Index gap : {0, 5}) compare(m, n, k, a_transposed, b_transposed, gap);
  compare(63, 65, 3, false, true, 2);
  compare(65, 17, 63, true, false, 0);
}

TEST_CASE("beta 0 never reads what C held") {
  const Tensor a({2, 2}, {1, 2, 3, 4});
  Tensor c({2, 2}, {kNan, kNan, std::numeric_limits<Real>::infinity(), kNan});
  gemm(c.data(), 2, {a.data(), 2}, {a.data(), 2}, 2, 2, 2, 1, 0);
  testing::check_close(c, {2, 2}, {7, 10, 15, 22}, 0);
}

TEST_CASE("beta 1 adds to C, and other factors scale") {
  const Tensor a({2, 2}, {1, 2, 3, 4});
  Tensor c({2, 2}, {1, 1, 1, 1});
  gemm(c.data(), 2, {a.data(), 2}, {a.data(), 2}, 2, 2, 2, 1, 1);
  testing::check_close(c, {2, 2}, {8, 11, 16, 23}, 0);
  gemm(c.data(), 2, {a.data(), 2}, {a.data(), 2, true}, 2, 2, 2, 2, Real(0.5));
  testing::check_close(c, {2, 2}, {14, 27.5, 30, 61.5}, 0);
}

TEST_CASE("a NaN in A or B is seen in the product") {
  const Tensor a({2, 2}, {1, kNan, 3, 4});
  const Tensor zeros(Shape{2, 2});
  Tensor c(Shape{2, 2});
  gemm(c.data(), 2, {a.data(), 2}, {zeros.data(), 2}, 2, 2, 2, 1, 0);
  CHECK(std::isnan(c(0, 0)));
  CHECK(c(1, 1) == 0);
}

TEST_CASE("a head's slice of a wider row is multiplied where it lies") {
  Tensor rows(Shape{2, 3, 4});
  for (Index i = 0; i < rows.count(); ++i) rows.data()[i] = static_cast<Real>(i);
  const Matrix q{rows.data() + 2, 4};
  const Matrix k_transposed{rows.data() + 12 + 2, 4, true};
  Tensor scores(Shape{3, 3});
  gemm(scores.data(), 3, q, k_transposed, 3, 3, 2, 1, 0);
  testing::check_close(scores, {3, 3}, {73, 93, 113, 189, 241, 293, 305, 389, 473}, 0);
}

TEST_CASE("two windows of one buffer are two matrices, also when they start together") {
  const Tensor x({3, 2}, {1, 2, 3, 4, 5, 6});
  Tensor c(Shape{3, 2});
  gemm(c.data(), 2, {x.data(), 2}, {x.data(), 2, true}, 3, 2, 2, 1, 0);
  testing::check_close(c, {3, 2}, {5, 11, 11, 25, 17, 39}, 0);
}

TEST_CASE("a product over no terms is zero, and no rows or columns write nothing") {
  const Tensor none;
  Tensor c({2, 2}, {1, kNan, 3, 4});
  gemm(c.data(), 2, {none.data(), 0}, {none.data(), 2}, 2, 2, 0, 1, 0);
  testing::check_close(c, {2, 2}, {0, 0, 0, 0}, 0);
  c.fill(3);
  gemm(c.data(), 2, {none.data(), 0}, {none.data(), 2}, 2, 2, 0, 1, 1);
  testing::check_close(c, {2, 2}, {3, 3, 3, 3}, 0);
  gemm(c.data(), 2, {none.data(), 2}, {c.data(), 2}, 0, 2, 2, 1, 0);
  gemm(c.data(), 0, {c.data(), 2}, {none.data(), 0}, 2, 0, 2, 1, 0);
  testing::check_close(c, {2, 2}, {3, 3, 3, 3}, 0);
}

TEST_CASE("operations are counted as 2 m n k, on the thread that did them") {
  const Tensor a = testing::random_tensor({3, 5}, 1);
  const Tensor b = testing::random_tensor({5, 7}, 2);
  Tensor c(Shape{3, 7});
  const Index before = gemm_operations();
  gemm(c.data(), 7, {a.data(), 5}, {b.data(), 7}, 3, 7, 5, 1, 0);
  CHECK(gemm_operations() - before == 2 * 3 * 7 * 5);
  Index elsewhere = -1;
  std::thread([&] { elsewhere = gemm_operations(); }).join();
  CHECK(elsewhere == 0);
}

}  // namespace tapehead
