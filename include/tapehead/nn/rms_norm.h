/// Root-mean-square normalisation with a learned gain.
#pragma once

#include <span>

#include "tapehead/nn/pass.h"
#include "tapehead/nn/scope.h"

namespace tapehead {

/// (..., C) to (..., C), by Zhang and Sennrich 2019, with epsilon 1e-5. It takes no mean off and has no bias.
class RmsNorm {
 public:
  /// 1 / sqrt(mean square + epsilon) of a row: the factor that depends on what is normalised.
  static double scale_of(std::span<const Real> row);

  /// Registers `gain`, ones.
  RmsNorm(const Scope& scope, Index width);

  Variable operator()(const Pass& pass, const Variable& x) const;

 private:
  Parameter gain_;
};

}  // namespace tapehead
