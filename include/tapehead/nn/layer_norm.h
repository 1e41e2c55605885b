/// Layer normalisation with a learned gain, and a bias if wanted.
#pragma once

#include "tapehead/nn/pass.h"
#include "tapehead/nn/scope.h"

namespace tapehead {

/// (..., C) to (..., C), by Ba et al. 2016 with the population variance and epsilon 1e-5.
class LayerNorm {
 public:
  /// Registers `gain`, ones, and `bias`, zeros, if wanted.
  LayerNorm(const Scope& scope, Index width, bool bias);

  Variable operator()(const Pass& pass, const Variable& x) const;

 private:
  Parameter gain_;
  Parameter bias_;
  bool has_bias_;
};

}  // namespace tapehead
