/// Elementary differentiable ops: with those of elementwise.h, enough to write down the definition of every
/// fused one.
///
/// These move, gather and add up the elements of an array. A negative axis counts from the end. All throw
/// Error for shapes that do not fit.
#pragma once

#include "tapehead/autograd/elementwise.h"
#include "tapehead/autograd/variable.h"
#include "tapehead/tensor/tokens.h"

namespace tapehead {

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
