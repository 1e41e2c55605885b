#include "tapehead/tensor/gemm.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>
#include <tuple>

#include "support/functions.h"
#include "support/products.h"
#include "tapehead/tensor/blas_gemm.h"

namespace tapehead {

namespace {

using testing::Call;
using testing::Operand;
using testing::random_tensor;

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

void call_gemm(Real* c, Index stride, Matrix a, Matrix b, const Call& call) {
  gemm(c, stride, a, b, call.m, call.n, call.k, call.alpha, call.beta, call.triangle);
}

/// Counts the faults of a call for all transposes, with rows side by side or apart, and with C overwritten,
/// added to and scaled.
Index faults_of(Call call) {
  Generator generator(2);
  Index faults = 0;
  for (call.a_transposed = false;; call.a_transposed = true) {
    for (call.b_transposed = false;; call.b_transposed = true) {
      for (const auto& [alpha, beta, gap] :
           {std::tuple<Real, Real, Index>{1, 0, 0}, {2, 1, 5}, {Real(0.5), Real(-0.5), 1}}) {
        call.alpha = alpha;
        call.beta = beta;
        call.gap = gap;
        faults += testing::faults(call_gemm, call, generator);
      }
      if (call.b_transposed) break;
    }
    if (call.a_transposed) break;
  }
  return faults;
}

/// The product as an array of its own.
Tensor product_of(const Operand& a, const Operand& b, Index m, Index n, Index k) {
  Tensor c(Shape{m, n});
  c.fill(kNan);
  gemm(c.data(), n, a.matrix(), b.matrix(), m, n, k, 1, 0);
  return c;
}

}  // namespace

TEST_CASE("a product is exact for every size, transpose, row distance and factor") {
  testing::check_every_size(call_gemm, {1, 3, 12, 13, 16, 17, 31, 32, 33, 63, 65});
}

TEST_CASE("a product is exact where its sizes cross the blocks it is cut into") {
  for (const Call& call : {Call{1, 513, 257},
                           {13, 600, 256},
                           {60, 513, 255},
                           {49, 33, 513},
                           {61, 40, 600},
                           {25, 512, 258},
                           {50, 65, 300},
                           {257, 1, 512}}) {
    CAPTURE(call.m);
    CAPTURE(call.n);
    CAPTURE(call.k);
    CHECK(faults_of(call) == 0);
  }
}

TEST_CASE("a triangle gives every element that is wanted of it, in squares and in rectangles") {
  for (const Triangle triangle : {Triangle::lower_c, Triangle::lower_a, Triangle::upper_a})
    for (const Index m : {1, 3, 12, 13, 33, 65})
      for (const Index n : {1, 3, 17, 33, 66})
        for (const Index k : {1, 3, 13, 17, 65}) {
          CAPTURE(static_cast<int>(triangle));
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          CHECK(faults_of({.m = m, .n = n, .k = k, .triangle = triangle}) == 0);
        }
}

TEST_CASE("a triangle is whole where it crosses the blocks it is cut into") {
  for (const Triangle triangle : {Triangle::lower_c, Triangle::lower_a, Triangle::upper_a})
    for (Call call : {Call{255, 17, 255},
                      {257, 65, 257},
                      {300, 16, 300},
                      {270, 520, 12},
                      {530, 530, 3},
                      {40, 9, 300},
                      {300, 9, 40},
                      {520, 3, 514}}) {
      CAPTURE(static_cast<int>(triangle));
      CAPTURE(call.m);
      CAPTURE(call.n);
      CAPTURE(call.k);
      call.triangle = triangle;
      CHECK(faults_of(call) == 0);
    }
}

TEST_CASE("a product of normals is its definition in double, and BLAS's, to rounding") {
  for (const Index m : {1, 13, 65})
    for (const Index n : {1, 33, 65, 513})
      for (const Index k : {1, 17, 63, 257}) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        const auto seed = static_cast<std::uint64_t>(m + 1000 * n + 1'000'000 * k);
        const Tensor a = random_tensor({m, k}, seed);
        const Tensor b = random_tensor({k, n}, seed + 1);
        const Tensor expected = testing::product(a, b);
        const Operand left(a, k % 4 == 1, 2);
        const Operand right(b, m % 4 == 1, 2);
        const Tensor ours = product_of(left, right, m, n, k);
        Tensor blas(Shape{m, n});
        blas_gemm(blas.data(), n, left.matrix(), right.matrix(), m, n, k, 1, 0);
        double from_definition = 0;
        double from_blas = 0;
        for (Index i = 0; i < m * n; ++i) {
          const double value = static_cast<double>(ours.data()[i]);
          from_definition =
              std::max(from_definition, std::abs(value - static_cast<double>(expected.data()[i])));
          from_blas = std::max(from_blas, std::abs(value - static_cast<double>(blas.data()[i])));
        }
        // Each of k additions rounds a sum that has grown to about the root of their number.
        const double rounding =
            2 * static_cast<double>(std::numeric_limits<Real>::epsilon() * static_cast<Real>(k + 4));
        CHECK(from_definition < rounding);
        CHECK(from_blas < rounding);
      }
}

TEST_CASE("beta 0 never reads what C held") {
  const Tensor a({2, 2}, {1, 2, 3, 4});
  Tensor c({2, 2}, {kNan, kNan, kInfinity, kNan});
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

TEST_CASE(
    "a NaN or infinity anywhere in A or B is seen in its row or column of the product, and only there") {
  for (const auto& [m, n, k] : {std::array<Index, 3>{3, 5, 2}, {14, 35, 17}, {60, 70, 300}})
    for (const bool transposed_too : {false, true})
      for (const Real bad : {kNan, kInfinity})
        for (const auto& [row, term, column] :
             {std::array<Index, 3>{0, 0, 0}, {m - 1, k - 1, n - 1}, {m / 2, k / 3, n / 2}}) {
          Tensor a(Shape{m, k});
          Tensor b(Shape{k, n});
          a.fill(1);
          b.fill(1);
          Tensor spoiled = a;
          spoiled(row, term) = bad;
          const Tensor from_a =
              product_of(Operand(spoiled, transposed_too, 0), Operand(b, transposed_too, 0), m, n, k);
          spoiled = b;
          spoiled(term, column) = bad;
          const Tensor from_b =
              product_of(Operand(a, transposed_too, 0), Operand(spoiled, transposed_too, 0), m, n, k);
          Index wrong = 0;
          for (Index i = 0; i < m; ++i)
            for (Index j = 0; j < n; ++j) {
              wrong += std::isfinite(from_a(i, j)) == (i != row) ? 0 : 1;
              wrong += std::isfinite(from_b(i, j)) == (j != column) ? 0 : 1;
            }
          CHECK(wrong == 0);
        }
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
  for (const Triangle triangle : {Triangle::lower_c, Triangle::lower_a, Triangle::upper_a})
    CHECK(faults_of({.m = 30, .n = 530, .k = 0, .triangle = triangle}) == 0);
  gemm(c.data(), 2, {none.data(), 2}, {c.data(), 2}, 0, 2, 2, 1, 0);
  gemm(c.data(), 0, {c.data(), 2}, {none.data(), 0}, 2, 0, 2, 1, 0);
  testing::check_close(c, {2, 2}, {3, 3, 3, 3}, 0);
}

// BLAS makes no such promise; a build without AVX2 has it do the work.
#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))

namespace {

/// `count` times the same row.
Tensor repeated(const Tensor& row, Index count) {
  Tensor rows(Shape{count, row.count()});
  for (Index i = 0; i < count; ++i) std::copy_n(row.data(), row.count(), rows.data() + i * row.count());
  return rows;
}

Tensor transposed(const Tensor& x) {
  Tensor y(Shape{x.shape()[1], x.shape()[0]});
  for (Index i = 0; i < x.shape()[0]; ++i)
    for (Index j = 0; j < x.shape()[1]; ++j) y(j, i) = x(i, j);
  return y;
}

}  // namespace

TEST_CASE("an element has the same bits wherever it lies in a C of several rows, and however large C is") {
  for (const Index k : {1, 37, 300})
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true}) {
        CAPTURE(k);
        CAPTURE(a_transposed);
        CAPTURE(b_transposed);
        const Tensor row = random_tensor({k}, 1);
        const Tensor column = random_tensor({k}, 2);
        const Tensor one = random_tensor({1}, 3);
        Index different = 0;
        Real first = 0;
        for (const auto& [m, n] : {std::array<Index, 2>{2, 1}, {2, 40}, {31, 75}, {61, 530}}) {
          const Operand a(repeated(row, m), a_transposed, 1);
          const Operand b(transposed(repeated(column, n)), b_transposed, 1);
          Tensor c = repeated(one, m * n);
          gemm(c.data(), n, a.matrix(), b.matrix(), m, n, k, Real(0.3), Real(0.7));
          if (n == 1) first = c.data()[0];
          for (const Real element : c.values()) different += element == first ? 0 : 1;
        }
        CHECK(different == 0);
      }
}
#endif

TEST_CASE("two threads that multiply at the same time get what one gets") {
  const Operand a(random_tensor({61, 300}, 1), true, 0);
  const Operand b(random_tensor({300, 530}, 2), true, 0);
  const Tensor expected = product_of(a, b, 61, 530, 300);
  std::atomic<int> begun{0};
  std::atomic<Index> different{0};
  const auto multiply_often = [&] {
    ++begun;
    while (begun < 2) std::this_thread::yield();
    for (int i = 0; i < 20; ++i)
      if (!testing::same_bits(product_of(a, b, 61, 530, 300), expected)) ++different;
  };
  std::thread other(multiply_often);
  multiply_often();
  other.join();
  CHECK(different == 0);
}

TEST_CASE("operations are counted as 2 m n k, triangle or not, on the thread that did them") {
  const Tensor a = random_tensor({3, 5}, 1);
  const Tensor b = random_tensor({5, 7}, 2);
  Tensor c(Shape{3, 7});
  const Index before = gemm_operations();
  gemm(c.data(), 7, {a.data(), 5}, {b.data(), 7}, 3, 7, 5, 1, 0);
  CHECK(gemm_operations() - before == 2 * 3 * 7 * 5);
  gemm(c.data(), 7, {a.data(), 5}, {b.data(), 7}, 3, 7, 5, 1, 1, Triangle::lower_c);
  CHECK(gemm_operations() - before == 2 * (2 * 3 * 7 * 5));
  Index elsewhere = -1;
  std::thread([&] { elsewhere = gemm_operations(); }).join();
  CHECK(elsewhere == 0);
}

}  // namespace tapehead
