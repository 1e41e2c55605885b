/// Matrix products on rows of numbers, through xtensor-blas. BLAS runs on the calling thread alone.
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

/// C = alpha * A * B + beta * C, with A (m, k), B (k, n) and C (m, n) whose rows lie c_stride apart.
/// beta = 0 never reads C; beta = 1 accumulates. C must not overlap A or B.
void gemm(Real* c, Index c_stride, Matrix a, Matrix b, Index m, Index n, Index k, Real alpha, Real beta);

/// Multiplications and additions done by gemm on this thread since the thread began: 2 m n k a call.
Index gemm_operations();

}  // namespace tapehead
