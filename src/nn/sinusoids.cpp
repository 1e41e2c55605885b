#include "tapehead/nn/sinusoids.h"

#include <cmath>

namespace tapehead {

Tensor sinusoids(Index length, Index width) {
  Tensor table({length, width});
  for (Index t = 0; t < length; ++t)
    for (Index i = 0; i < width; ++i) {
      const double rate = std::pow(10000.0, -static_cast<double>(i / 2 * 2) / static_cast<double>(width));
      const double angle = static_cast<double>(t) * rate;
      table(t, i) = static_cast<Real>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  return table;
}

}  // namespace tapehead
