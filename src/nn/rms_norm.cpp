#include "tapehead/nn/rms_norm.h"

#include <cmath>

#include "tapehead/autograd/fused.h"

namespace tapehead {

namespace {
constexpr Real kEpsilon = static_cast<Real>(1e-5);
}

double RmsNorm::scale_of(std::span<const Real> row) {
  double squares = 0;
  for (const Real x : row) squares += static_cast<double>(x) * static_cast<double>(x);
  return 1 / std::sqrt(squares / static_cast<double>(row.size()) + static_cast<double>(kEpsilon));
}

RmsNorm::RmsNorm(const Scope& scope, Index width) : gain_(scope.add("gain", {width}, Start::constant(1))) {}

Variable RmsNorm::operator()(const Pass& pass, const Variable& x) const {
  return rms_norm(x, pass.parameter(gain_), kEpsilon);
}

}  // namespace tapehead
