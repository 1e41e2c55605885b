/// Elementary differentiable ops that take arrays element by element.
///
/// Two operands are broadcast by the usual rule (axes matched from the last, size 1 stretches), and each gets
/// its gradient summed back to its own shape. All throw Error for shapes that do not fit. Inside, the
/// arithmetic is xtensor's.
#pragma once

#include "tapehead/autograd/variable.h"

namespace tapehead {

Variable add(const Variable& a, const Variable& b);
Variable subtract(const Variable& a, const Variable& b);
Variable multiply(const Variable& a, const Variable& b);
Variable divide(const Variable& a, const Variable& b);
/// factor * x
Variable scale(const Variable& x, Real factor);

inline Variable operator+(const Variable& a, const Variable& b) { return add(a, b); }
inline Variable operator-(const Variable& a, const Variable& b) { return subtract(a, b); }
inline Variable operator*(const Variable& a, const Variable& b) { return multiply(a, b); }
inline Variable operator/(const Variable& a, const Variable& b) { return divide(a, b); }
inline Variable operator*(Real factor, const Variable& x) { return scale(x, factor); }

Variable exp(const Variable& x);
Variable log(const Variable& x);
Variable sqrt(const Variable& x);
Variable tanh(const Variable& x);

/// a where `condition` is not 0, else b; all three of one shape. The branch not taken gets gradient 0,
/// whatever it holds there.
Variable where(const Tensor& condition, const Variable& a, const Variable& b);

}  // namespace tapehead
