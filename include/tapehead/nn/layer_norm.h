/// Layer normalisation with a learned gain, and a bias if wanted.
#pragma once

#include <span>

#include "tapehead/nn/pass.h"
#include "tapehead/nn/scope.h"

namespace tapehead {

/// (..., C) to (..., C), by Ba et al. 2016 with the population variance and epsilon 1e-5.
class LayerNorm {
 public:
  /// 1 / sqrt(variance + epsilon) of a row: the factor that depends on what is normalised. The rest of a
  /// layer norm is linear, so whoever writes it as a matrix holds this.
  static double scale_of(std::span<const Real> row);

  /// Registers `gain`, ones, and `bias`, zeros, if wanted.
  LayerNorm(const Scope& scope, Index width, bool bias);

  Variable operator()(const Pass& pass, const Variable& x) const;

 private:
  Parameter gain_;
  Parameter bias_;
  bool has_bias_;
};

}  // namespace tapehead
