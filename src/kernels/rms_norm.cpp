#include "tapehead/kernels/rms_norm.h"

#include <cmath>

#include "tapehead/kernels/lanes.h"

namespace tapehead::kernels {

void rms_norm_forward(Real* y, Real* scale, const Real* x, const Real* gain, Real epsilon, Index rows,
                      Index width) {
  for (Index i = 0; i < rows; ++i, x += width, y += width) {
    Lanes squares(Real{0});
    for_each_lanes(width, [&](Index j, Index lanes) {
      const Lanes v = load(x + j, lanes);
      squares += v * v;
    });
    const Real s = 1 / std::sqrt(sum_of(squares) / static_cast<Real>(width) + epsilon);
    for_each_lanes(width, [&](Index j, Index lanes) {
      store(y + j, load(x + j, lanes) * s * load(gain + j, lanes), lanes);
    });
    scale[i] = s;
  }
}

void rms_norm_backward(Sink dx, Real* dgain, const Real* dy, const Real* x, const Real* gain,
                       const Real* scale, Index rows, Index width) {
  for (Index i = 0; i < rows; ++i, x += width, dy += width) {
    const Real s = scale[i];
    // y = normal * gain, normal = x * s
    Lanes along_normal(Real{0});
    for_each_lanes(width, [&](Index j, Index lanes) {
      const Lanes up = load(dy + j, lanes);
      const Lanes normal = load(x + j, lanes) * s;
      along_normal += up * load(gain + j, lanes) * normal;
      if (dgain != nullptr) store(dgain + j, load(dgain + j, lanes) + up * normal, lanes);
    });
    if (!dx) continue;
    // dx = s * (dnormal - normal * the mean of dnormal * normal)
    const Real mean_normal = sum_of(along_normal) / static_cast<Real>(width);
    for_each_lanes(width, [&](Index j, Index lanes) {
      const Lanes dnormal = load(dy + j, lanes) * load(gain + j, lanes);
      put(dx + i * width + j, s * (dnormal - load(x + j, lanes) * s * mean_normal), lanes);
    });
  }
}

}  // namespace tapehead::kernels
