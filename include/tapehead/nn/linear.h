/// A linear layer.
#pragma once

#include "tapehead/nn/pass.h"
#include "tapehead/nn/scope.h"

namespace tapehead {

/// y = x Wᵀ + b: (..., inputs) to (..., outputs). The weight is stored (outputs, inputs).
class Linear {
 public:
  /// Registers `weight`, normal with standard deviation `deviation` (0: 1/sqrt(inputs)), and `bias`, zeros,
  /// if wanted.
  Linear(const Scope& scope, Index inputs, Index outputs, bool bias, double deviation = 0);

  Variable operator()(const Pass& pass, const Variable& x) const;
  /// The outputs first, ..., first + count - 1 alone, as if the layer had no others.
  Variable outputs(const Pass& pass, const Variable& x, Index first, Index count) const;

 private:
  Parameter weight_;
  Parameter bias_;
  bool has_bias_;
};

}  // namespace tapehead
