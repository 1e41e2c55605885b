/// A recurrence over positions (Elman 1990): each state is made of the one before, so step after step.
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

struct RecurrenceSizes {
  Index batch;   ///< B
  Index length;  ///< T
  Index width;   ///< C
};

/// states_t = tanh(x_t + states_{t-1} Uᵀ) with states_{-1} = 0; x, states (B, T, C), weight U (C, C).
void recurrence_forward(Real* states, const Real* x, const Real* weight, RecurrenceSizes sizes);

/// Whichever of dx and dweight is not null, back through all steps.
void recurrence_backward(Sink dx, Sink dweight, const Real* dstates, const Real* states, const Real* weight,
                         RecurrenceSizes sizes);

}  // namespace tapehead::kernels
