#include "tapehead/tensor/blas_gemm.h"

#include <limits>
#include <xtensor-blas/xblas.hpp>

#include "tapehead/base/require.h"

// OpenBLAS's own; its header and xtensor-blas's cannot both be included.
extern "C" void openblas_set_num_threads(int threads);

namespace tapehead {

namespace {

xt::blas_index_t as_blas(Index size) {
  ensure(size <= std::numeric_limits<xt::blas_index_t>::max(), "[gemm] size {} is too large for BLAS", size);
  return static_cast<xt::blas_index_t>(size);
}

cxxblas::Transpose mode(const Matrix& matrix) {
  return matrix.transposed ? cxxblas::Transpose::Trans : cxxblas::Transpose::NoTrans;
}

}  // namespace

void blas_gemm(Real* c, Index c_stride, Matrix a, Matrix b, Index m, Index n, Index k, Real alpha,
               Real beta) {
  if (m == 0 || n == 0) return;
  // Shards are the only parallelism; a second pool inside BLAS would fight with it.
  [[maybe_unused]] static const bool once = (openblas_set_num_threads(1), true);
  cxxblas::gemm<xt::blas_index_t>(cxxblas::StorageOrder::RowMajor, mode(a), mode(b), as_blas(m), as_blas(n),
                                  as_blas(k), alpha, a.data, as_blas(a.stride), b.data, as_blas(b.stride),
                                  beta, c, as_blas(c_stride));
}

}  // namespace tapehead
