/// Eigenvalues and singular values of a product of two thin matrices, by LAPACK in double on the calling
/// thread.
///
/// A head's circuits have the rank of the head's width at most, so what is decomposed has that size and never
/// the size of the product. Zeros that the product has beyond it are not given.
#pragma once

#include <complex>
#include <vector>

#include "tapehead/tensor/tensor.h"

namespace tapehead {

/// The eigenvalues of left * right, (N, D) times (D, N), that its rank leaves room for: those of right *
/// left, D of them, which are the same but for zeros. The largest in absolute value come first; of a
/// conjugate pair, the one above the real axis. Throws Error for shapes that do not fit and for numbers that
/// are not finite.
std::vector<std::complex<double>> eigenvalues(const Tensor& left, const Tensor& right);

/// The singular values of left * right, (M, D) times (D, N), the largest first: min(M, D, N) of them. Throws
/// as eigenvalues does.
std::vector<double> singular_values(const Tensor& left, const Tensor& right);

}  // namespace tapehead
