/// Differentiable functions of several arrays, as the tests compare them and check their gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "support/testing.h"
#include "tapehead/autograd/tape.h"
#include "tapehead/tensor/tokens.h"

namespace tapehead::testing {

using Inputs = std::vector<Variable>;
using Function = std::function<Variable(const Inputs&)>;

/// The sum of y's elements, each times its own fixed random number: a scalar that every element moves
/// differently.
Variable weighed(const Variable& y);

/// A function's value, and the gradients of its weighed sum with respect to every input.
struct Outcome {
  Tensor value;
  std::vector<Tensor> gradients;
};
Outcome outcome_of(const Function& function, const std::vector<Tensor>& inputs);

/// Checks that a function has the value and all the gradients of its definition.
void check_same(const Function& function, const Function& definition, const std::vector<Tensor>& inputs,
                double tolerance = kRounding);

/// Checks that a function of two inputs, when one recorded variable is both of them, gives it the sum of what
/// two variables of the same value get.
void check_roles(const Function& function, const Tensor& value);

/// The gradient check's error of a function's weighed sum.
double gradient_error(const Function& function, const std::vector<Tensor>& inputs);

/// Independent ids below `limit`.
Tokens random_tokens(Index batch, Index length, Index limit, std::uint64_t seed);

/// Whether two arrays have the same shape and the same bits.
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace tapehead::testing
