#include "tapehead/autograd/matmul.h"

#include <vector>

#include "tapehead/autograd/tape.h"
#include "tapehead/base/require.h"
#include "tapehead/tensor/gemm.h"

namespace tapehead {

namespace {

/// For each matrix of the result, which matrix of an operand with these batch axes takes part.
std::vector<Index> matching_matrices(const Shape& result, const Shape& operand) {
  std::vector<Index> matches(static_cast<std::size_t>(result.count()), 0);
  for (Index i = 0; i < result.count(); ++i) {
    Index rest = i;
    Index stride = 1;
    for (int back = 1; back <= operand.rank(); ++back) {
      const Index place = rest % result[-back];
      rest /= result[-back];
      if (operand[-back] != 1) matches[static_cast<std::size_t>(i)] += place * stride;
      stride *= operand[-back];
    }
  }
  return matches;
}

}  // namespace

Variable matmul(const Variable& a, const Variable& b) {
  require(a.shape().rank() >= 2 && b.shape().rank() >= 2 && a.shape()[-1] == b.shape()[-2],
          "[matmul] expected (..., M, K) and (..., K, N), got {} and {}", a.shape(), b.shape());
  const Index m = a.shape()[-2];
  const Index k = a.shape()[-1];
  const Index n = b.shape()[-1];
  const Shape batch_a = a.shape().without(-1).without(-1);
  const Shape batch_b = b.shape().without(-1).without(-1);
  const Shape batch = broadcast(batch_a, batch_b);
  std::vector<Index> sizes(batch.sizes().begin(), batch.sizes().end());
  sizes.insert(sizes.end(), {m, n});

  Variable y = Variable::result("matmul", Shape(sizes), {&a, &b});
  const std::vector<Index> from_a = matching_matrices(batch, batch_a);
  const std::vector<Index> from_b = matching_matrices(batch, batch_b);
  for (std::size_t i = 0; i < from_a.size(); ++i)
    gemm(y.output() + static_cast<Index>(i) * m * n, n, {a.data() + from_a[i] * m * k, k},
         {b.data() + from_b[i] * k * n, n}, m, n, k, 1, 0);

  record("matmul", y, [a, b, y, m, n, k, from_a, from_b] {
    Real* da = a.gradient_sum();
    Real* db = b.gradient_sum();
    for (std::size_t i = 0; i < from_a.size(); ++i) {
      const Real* dy = y.upstream() + static_cast<Index>(i) * m * n;
      if (da != nullptr)
        gemm(da + from_a[i] * m * k, k, {dy, n}, {b.data() + from_b[i] * k * n, n, true}, m, k, n, 1, 1);
      if (db != nullptr)
        gemm(db + from_b[i] * k * n, n, {a.data() + from_a[i] * m * k, k, true}, {dy, n}, k, n, m, 1, 1);
    }
  });
  return y;
}

}  // namespace tapehead
