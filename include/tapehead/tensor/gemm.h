/// Matrix products on rows of numbers, on the calling thread alone.
#pragma once

#include "tapehead/base/number.h"

namespace tapehead {

/// A matrix inside a larger row-major array: element (i, j) lies at data[i * stride + j], or, where
/// `transposed`, at data[j * stride + i].
struct Matrix {
  const Real* data;
  Index stride;
  bool transposed = false;
};

/// What is known of a product, and saves about half of it. Whether what is skipped shows is open: a NaN or an
/// infinity of B that meets only such zeros of A, say.
enum class Triangle {
  none,
  lower_c,  ///< only the diagonal of C and what is below it is wanted; the rest of C is left unspecified
  lower_a,  ///< A holds zeros above its diagonal
  upper_a,  ///< A holds zeros below its diagonal
};

/// C = alpha * A * B + beta * C, with A (m, k), B (k, n) and C (m, n) whose rows lie c_stride apart.
/// beta = 0 never reads C; beta = 1 accumulates. C must not overlap A or B.
///
/// The kernel is our own where the build has AVX2 or AVX-512 (`--preset release` has what the machine has),
/// and `blas_gemm` elsewhere.
void gemm(Real* c, Index c_stride, Matrix a, Matrix b, Index m, Index n, Index k, Real alpha, Real beta,
          Triangle triangle = Triangle::none);

/// Multiplications and additions asked of gemm on this thread since the thread began: 2 m n k a call,
/// triangle or not.
Index gemm_operations();

}  // namespace tapehead
