#include "support/products.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/testing.h"

namespace tapehead::testing {

namespace {

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

/// Sets to 0 what the triangle says is 0.
void clear(Tensor& a, Triangle triangle) {
  for (Index i = 0; i < a.shape()[0]; ++i)
    for (Index p = 0; p < a.shape()[1]; ++p)
      if ((triangle == Triangle::lower_a && p > i) || (triangle == Triangle::upper_a && p < i)) a(i, p) = 0;
}

}  // namespace

Operand::Operand(const Tensor& values, bool transposed, Index gap) : transposed_(transposed) {
  const Index rows = values.shape()[0];
  const Index columns = values.shape()[1];
  array_ = Tensor::uninitialised({transposed ? columns : rows, (transposed ? rows : columns) + gap});
  array_.fill(kNan);
  const Index stride = array_.shape()[1];
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      array_.data()[transposed ? j * stride + i : i * stride + j] = values.data()[i * columns + j];
}

Tensor whole_numbers(const Shape& shape, Generator& generator) {
  Tensor numbers = Tensor::uninitialised(shape);
  for (Real& number : numbers.values())
    number = static_cast<Real>(static_cast<Index>(generator.bits() % 9) - 4);
  return numbers;
}

Tensor product(const Tensor& a, const Tensor& b, double alpha, double beta, const Tensor& c) {
  const Index m = a.shape()[0];
  const Index k = a.shape()[1];
  const Index n = b.shape()[1];
  Tensor result = Tensor::uninitialised({m, n});
  std::vector<double> sums(static_cast<std::size_t>(n));
  for (Index i = 0; i < m; ++i) {
    std::fill(sums.begin(), sums.end(), 0);
    for (Index p = 0; p < k; ++p) {
      const double factor = static_cast<double>(a.data()[i * k + p]);
      for (Index j = 0; j < n; ++j)
        sums[static_cast<std::size_t>(j)] += factor * static_cast<double>(b.data()[p * n + j]);
    }
    for (Index j = 0; j < n; ++j) {
      const double kept = beta == 0 ? 0 : beta * static_cast<double>(c.data()[i * n + j]);
      result.data()[i * n + j] = static_cast<Real>(alpha * sums[static_cast<std::size_t>(j)] + kept);
    }
  }
  return result;
}

Index faults(const Gemm& gemm, const Call& call, Generator& generator) {
  Tensor a = whole_numbers({call.m, call.k}, generator);
  clear(a, call.triangle);
  const Tensor b = whole_numbers({call.k, call.n}, generator);
  Tensor c = whole_numbers({call.m, call.n}, generator);
  if (call.beta == 0) c.fill(kNan);
  const Tensor expected = product(a, b, static_cast<double>(call.alpha), static_cast<double>(call.beta), c);

  const Operand left(a, call.a_transposed, call.gap);
  const Operand right(b, call.b_transposed, call.gap);
  const Index stride = call.n + call.gap;
  Tensor actual(Shape{call.m, stride});
  actual.fill(kNan);
  for (Index i = 0; i < call.m; ++i) std::copy_n(c.data() + i * call.n, call.n, actual.data() + i * stride);
  gemm(actual.data(), stride, left.matrix(), right.matrix(), call);

  Index count = 0;
  for (Index i = 0; i < call.m; ++i) {
    const Real* row = actual.data() + i * stride;
    const Index wanted = call.triangle == Triangle::lower_c ? std::min(i + 1, call.n) : call.n;
    // A NaN equals nothing, so it counts.
    for (Index j = 0; j < wanted; ++j) count += row[j] == expected.data()[i * call.n + j] ? 0 : 1;
    for (Index j = call.n; j < stride; ++j) count += std::isnan(row[j]) ? 0 : 1;
  }
  return count;
}

void check_every_size(const Gemm& gemm, std::initializer_list<Index> sizes) {
  constexpr Real kFactors[][2] = {{1, 0}, {1, 1}, {-2, Real(0.5)}, {Real(0.5), 0}, {Real(0.25), 1}};
  Generator generator(1);
  std::size_t turn = 0;
  for (const Index m : sizes)
    for (const Index n : sizes)
      for (const Index k : sizes)
        for (const bool a_transposed : {false, true})
          for (const bool b_transposed : {false, true}) {
            const Real alpha = kFactors[turn % 5][0];
            const Real beta = kFactors[turn % 5][1];
            const Index gap = turn / 5 % 2 == 0 ? 0 : 3;
            ++turn;
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            CAPTURE(a_transposed);
            CAPTURE(b_transposed);
            CAPTURE(gap);
            CAPTURE(alpha);
            CAPTURE(beta);
            CHECK(faults(gemm, {m, n, k, a_transposed, b_transposed, gap, alpha, beta}, generator) == 0);
          }
}

}  // namespace tapehead::testing
