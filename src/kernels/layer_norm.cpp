#include "tapehead/kernels/layer_norm.h"

#include <cmath>

namespace tapehead::kernels {

void layer_norm_forward(Real* y, Real* mean, Real* scale, const Real* x, const Real* gain, const Real* bias,
                        Real epsilon, Index rows, Index width) {
  const Real n = static_cast<Real>(width);
  for (Index i = 0; i < rows; ++i, x += width, y += width) {
    Real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index j = 0; j < width; ++j) sum += x[j];
    const Real m = sum / n;
    // The mean of squared distances, never the square's mean less the mean's square: that cancels.
    Real squares = 0;
#pragma omp simd reduction(+ : squares)
    for (Index j = 0; j < width; ++j) squares += (x[j] - m) * (x[j] - m);
    const Real s = 1 / std::sqrt(squares / n + epsilon);
    for (Index j = 0; j < width; ++j) y[j] = (x[j] - m) * s * gain[j];
    if (bias != nullptr)
      for (Index j = 0; j < width; ++j) y[j] += bias[j];
    mean[i] = m;
    scale[i] = s;
  }
}

void layer_norm_backward(Real* dx, Real* dgain, Real* dbias, const Real* dy, const Real* x, const Real* gain,
                         const Real* mean, const Real* scale, Index rows, Index width) {
  const Real n = static_cast<Real>(width);
  for (Index i = 0; i < rows; ++i, x += width, dy += width) {
    const Real m = mean[i];
    const Real s = scale[i];
    // y = normal * gain + bias, normal = (x - m) * s
    if (dgain != nullptr)
      for (Index j = 0; j < width; ++j) dgain[j] += dy[j] * (x[j] - m) * s;
    if (dbias != nullptr)
      for (Index j = 0; j < width; ++j) dbias[j] += dy[j];
    if (dx == nullptr) continue;
    // dx = s * (dnormal - its mean - normal * the mean of dnormal * normal)
    Real along_one = 0;
    Real along_normal = 0;
#pragma omp simd reduction(+ : along_one, along_normal)
    for (Index j = 0; j < width; ++j) {
      const Real dnormal = dy[j] * gain[j];
      along_one += dnormal;
      along_normal += dnormal * (x[j] - m) * s;
    }
    along_one /= n;
    along_normal /= n;
    for (Index j = 0; j < width; ++j)
      dx[j] += s * (dy[j] * gain[j] - along_one - (x[j] - m) * s * along_normal);
    dx += width;
  }
}

}  // namespace tapehead::kernels
