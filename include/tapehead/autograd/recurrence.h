/// The op of a plain recurrent layer.
#pragma once

#include "tapehead/autograd/variable.h"

namespace tapehead {

/// h_t = tanh(x_t + h_{t-1} Uᵀ) with h_{-1} = 0, for x (B, T, C) and weight U (C, C) (Elman 1990): all states
/// (B, T, C). Its steps follow one another. Throws Error for shapes that do not fit.
Variable recurrence(const Variable& x, const Variable& weight);

}  // namespace tapehead
