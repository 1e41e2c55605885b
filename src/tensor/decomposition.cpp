#include "tapehead/tensor/decomposition.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <xtensor-blas/xlinalg.hpp>
#include <xtensor/xtensor.hpp>

#include "tapehead/base/require.h"

// OpenBLAS's own; its header and xtensor-blas's cannot both be included.
extern "C" void openblas_set_num_threads(int threads);

namespace tapehead {

namespace {

using DoubleMatrix = xt::xtensor<double, 2, xt::layout_type::column_major>;

void check(const Tensor& left, const Tensor& right) {
  require(left.shape().rank() == 2 && right.shape().rank() == 2 && left.shape()[1] == right.shape()[0],
          "[decomposition] expected matrices (M, D) and (D, N), got {} and {}", left.shape(), right.shape());
  require(all_finite(left.values()) && all_finite(right.values()),
          "[decomposition] expected matrices of finite numbers");
  // The same bits whatever the machine's cores, and no second pool beside ours.
  [[maybe_unused]] static const bool once = (openblas_set_num_threads(1), true);
}

DoubleMatrix matrix(Index rows, Index columns) {
  return DoubleMatrix::from_shape({static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)});
}

/// The upper triangle R of x = Q R for x (M, D), or for its transpose.
DoubleMatrix triangle_of(const Tensor& x, bool transposed) {
  const Index rows = x.shape()[0];
  const Index columns = x.shape()[1];
  DoubleMatrix copy = transposed ? matrix(columns, rows) : matrix(rows, columns);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      (transposed ? copy(j, i) : copy(i, j)) = static_cast<double>(x.data()[i * columns + j]);
  return std::get<1>(xt::linalg::qr(copy, xt::linalg::qrmode::r));
}

/// What LAPACK gives up on comes as an Error.
template <class Call>
auto by_lapack(const Call& call) {
  try {
    return call();
  } catch (const std::runtime_error& failure) {
    throw Error(fmt::format("[decomposition] {}", failure.what()));
  }
}

}  // namespace

std::vector<std::complex<double>> eigenvalues(const Tensor& left, const Tensor& right) {
  check(left, right);
  const Index n = left.shape()[0];
  const Index rank = left.shape()[1];
  require(right.shape()[1] == n, "[decomposition] expected matrices (N, D) and (D, N), got {} and {}",
          left.shape(), right.shape());
  if (rank == 0) return {};
  DoubleMatrix product = matrix(rank, rank);
  product.fill(0);
  for (Index i = 0; i < rank; ++i)
    for (Index k = 0; k < n; ++k) {
      const auto factor = static_cast<double>(right.data()[i * n + k]);
      for (Index j = 0; j < rank; ++j)
        product(i, j) += factor * static_cast<double>(left.data()[k * rank + j]);
    }
  const auto values = by_lapack([&] { return xt::linalg::eigvals(product); });
  std::vector<std::complex<double>> result(values.begin(), values.end());
  std::sort(result.begin(), result.end(), [](const std::complex<double>& a, const std::complex<double>& b) {
    return std::tuple(std::abs(a), a.real(), a.imag()) > std::tuple(std::abs(b), b.real(), b.imag());
  });
  return result;
}

std::vector<double> singular_values(const Tensor& left, const Tensor& right) {
  check(left, right);
  if (left.count() == 0 || right.count() == 0) return {};
  return by_lapack([&] {
    // left = Q R and right' = P S with orthonormal Q and P, so left * right has the singular values of R S'.
    const DoubleMatrix r = triangle_of(left, false);
    const DoubleMatrix s = triangle_of(right, true);
    DoubleMatrix core = matrix(static_cast<Index>(r.shape()[0]), static_cast<Index>(s.shape()[0]));
    core.fill(0);
    for (std::size_t i = 0; i < r.shape()[0]; ++i)
      for (std::size_t j = 0; j < s.shape()[0]; ++j)
        for (std::size_t k = 0; k < r.shape()[1]; ++k) core(i, j) += r(i, k) * s(j, k);
    const auto decomposed = xt::linalg::svd(core, false, false);
    const auto& values = std::get<1>(decomposed);
    return std::vector<double>(values.begin(), values.end());
  });
}

}  // namespace tapehead
