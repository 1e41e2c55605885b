#include "tapehead/kernels/dropout.h"

namespace tapehead::kernels {

void dropout_forward(Real* y, const Real* x, const std::uint8_t* kept, Real scale, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = kept[i] != 0 ? x[i] * scale : 0;
}

void dropout_backward(Real* dx, const Real* dy, const std::uint8_t* kept, Real scale, Index count) {
  for (Index i = 0; i < count; ++i) dx[i] += kept[i] != 0 ? dy[i] * scale : 0;
}

}  // namespace tapehead::kernels
