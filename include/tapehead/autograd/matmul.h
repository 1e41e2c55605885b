/// The differentiable matrix product of stacks of matrices.
#pragma once

#include "tapehead/autograd/variable.h"

namespace tapehead {

/// (..., M, K) times (..., K, N) is (..., M, N). The axes before the last two are broadcast, and an operand
/// that was stretched gets the sum of its gradients. Throws Error for ranks below 2 and for sizes that do not
/// fit.
Variable matmul(const Variable& a, const Variable& b);

}  // namespace tapehead
