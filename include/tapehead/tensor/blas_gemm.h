/// The matrix product through xtensor-blas: it runs on any machine, and says what `gemm` has to give.
#pragma once

#include "tapehead/tensor/gemm.h"

namespace tapehead {

/// C = alpha * A * B + beta * C as gemm computes it, by OpenBLAS on the calling thread alone.
void blas_gemm(Real* c, Index c_stride, Matrix a, Matrix b, Index m, Index n, Index k, Real alpha, Real beta);

}  // namespace tapehead
