/// Elementary differentiable ops: enough to write down the definition of every fused one.
///
/// Two operands are broadcast by the usual rule (axes matched from the last, size 1 stretches), and each gets
/// its gradient summed back to its own shape. A negative axis counts from the end. All throw Error for shapes
/// that do not fit. Inside, the arithmetic is xtensor's.
#pragma once

#include "tapehead/autograd/variable.h"
#include "tapehead/tensor/tokens.h"

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

/// The same elements, row by row, in another shape of equal count.
Variable reshape(const Variable& x, const Shape& shape);
/// Swaps two axes.
Variable transpose(const Variable& x, int axis, int other_axis);
/// The elements begin, ..., end - 1 along one axis.
Variable slice(const Variable& x, int axis, Index begin, Index end);

/// The sum of all elements, of shape (). Added up in double.
Variable sum(const Variable& x);
/// The sum along one axis, which stays with size 1.
Variable sum(const Variable& x, int axis);
Variable mean(const Variable& x);
Variable mean(const Variable& x, int axis);
/// The largest along one axis, which stays with size 1. The gradient goes to the first of equals.
Variable max(const Variable& x, int axis);

/// exp(x) over its sum along the last axis, computed with the row's maximum taken off.
Variable softmax(const Variable& x);
/// y[b, t] = x[b, t, ids[b, t]] for x (B, T, N). Throws Error for an id outside [0, N).
Variable gather(const Variable& x, const Tokens& ids);

}  // namespace tapehead
