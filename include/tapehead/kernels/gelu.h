/// The Gaussian error linear unit (Hendrycks and Gimpel 2016, section 2), in both of its forms.
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead {

/// `tanh` is the approximation that GPT-2's weights expect; `erf` is the exact form.
enum class GeluForm { tanh, erf };

namespace kernels {

/// y = x Φ(x) for each of `count` numbers.
void gelu_forward(Real* y, const Real* x, GeluForm form, Index count);

/// dx from dy * d(x Φ(x))/dx.
void gelu_backward(Sink dx, const Real* dy, const Real* x, GeluForm form, Index count);

}  // namespace kernels
}  // namespace tapehead
