/// Compares gradients with finite differences, in double.
#pragma once

#include <functional>
#include <vector>

#include "tapehead/autograd/tape.h"

namespace tapehead {

/// The largest relative error |g - n| / max(|g|, |n|, 1e-3) along random directions, where g is the
/// derivative of `loss` along the direction by the tape, and n its central difference of sixth order (step
/// 3e-4).
///
/// `loss` builds a scalar from one recorded variable for each of `inputs`; it is called several times and
/// must be a function of them alone. Throws Error in the float build, whose rounding would drown the
/// differences.
double gradient_check(const std::vector<Tensor>& inputs,
                      const std::function<Variable(Tape&, const std::vector<Variable>&)>& loss);

/// The same with respect to all of a model's parameters, which come back unchanged.
double gradient_check(Parameters& parameters, const std::function<Variable(Tape&)>& loss);

}  // namespace tapehead
