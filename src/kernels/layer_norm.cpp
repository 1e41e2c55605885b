#include "tapehead/kernels/layer_norm.h"

#include <cmath>

#include "tapehead/kernels/lanes.h"

namespace tapehead::kernels {

void layer_norm_forward(Real* y, Real* mean, Real* scale, const Real* x, const Real* gain, const Real* bias,
                        Real epsilon, Index rows, Index width) {
  const Real n = static_cast<Real>(width);
  for (Index i = 0; i < rows; ++i, x += width, y += width) {
    Lanes sum(Real{0});
    for_each_lanes(width, [&](Index j, Index lanes) { sum += load(x + j, lanes); });
    const Real m = sum_of(sum) / n;
    // The mean of squared distances, never the square's mean less the mean's square: that cancels.
    Lanes squares(Real{0});
    for_each_lanes(width, [&](Index j, Index lanes) {
      const Lanes distance = load(x + j, lanes, m) - m;
      squares += distance * distance;
    });
    const Real s = 1 / std::sqrt(sum_of(squares) / n + epsilon);
    for_each_lanes(width, [&](Index j, Index lanes) {
      Lanes out = (load(x + j, lanes) - m) * s * load(gain + j, lanes);
      if (bias != nullptr) out += load(bias + j, lanes);
      store(y + j, out, lanes);
    });
    mean[i] = m;
    scale[i] = s;
  }
}

void layer_norm_backward(Sink dx, Real* dgain, Real* dbias, const Real* dy, const Real* x, const Real* gain,
                         const Real* mean, const Real* scale, Index rows, Index width) {
  const Real n = static_cast<Real>(width);
  for (Index i = 0; i < rows; ++i, x += width, dy += width) {
    const Real m = mean[i];
    const Real s = scale[i];
    // y = normal * gain + bias, normal = (x - m) * s
    Lanes along_one(Real{0});
    Lanes along_normal(Real{0});
    for_each_lanes(width, [&](Index j, Index lanes) {
      const Lanes up = load(dy + j, lanes);
      const Lanes normal = (load(x + j, lanes) - m) * s;
      const Lanes dnormal = up * load(gain + j, lanes);
      along_one += dnormal;
      along_normal += dnormal * normal;
      if (dgain != nullptr) store(dgain + j, load(dgain + j, lanes) + up * normal, lanes);
      if (dbias != nullptr) store(dbias + j, load(dbias + j, lanes) + up, lanes);
    });
    if (!dx) continue;
    // dx = s * (dnormal - its mean - normal * the mean of dnormal * normal)
    const Real mean_one = sum_of(along_one) / n;
    const Real mean_normal = sum_of(along_normal) / n;
    for_each_lanes(width, [&](Index j, Index lanes) {
      const Lanes normal = (load(x + j, lanes) - m) * s;
      const Lanes dnormal = load(dy + j, lanes) * load(gain + j, lanes);
      put(dx + i * width + j, s * (dnormal - mean_one - normal * mean_normal), lanes);
    });
  }
}

}  // namespace tapehead::kernels
