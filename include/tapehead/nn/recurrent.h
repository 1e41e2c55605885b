/// A plain recurrent layer (Elman 1990).
#pragma once

#include "tapehead/nn/linear.h"

namespace tapehead {

/// h_t = tanh(x_t Wᵀ + b + h_{t-1} Uᵀ) with h_{-1} = 0: (B, T, inputs) to (B, T, width). What a position
/// knows of those before it is in the one state that it is handed.
class Recurrent {
 public:
  /// Registers `input` (W and b) and `state`, U, normal with standard deviation 1/sqrt(width).
  Recurrent(const Scope& scope, Index inputs, Index width);

  Variable operator()(const Pass& pass, const Variable& x) const;

 private:
  Linear input_;
  Parameter state_;
};

}  // namespace tapehead
