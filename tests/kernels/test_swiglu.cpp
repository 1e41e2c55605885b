#include "tapehead/kernels/swiglu.h"

#include <cmath>

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"

namespace tapehead {

namespace {

using testing::Inputs;
using testing::random_tensor;

/// gate / (1 + exp(-gate)) * x, in elementary ops.
Variable definition(const Variable& gate, const Variable& x) {
  return gate / (Variable(Tensor({1}, {1})) + exp(scale(gate, -1))) * x;
}

}  // namespace

TEST_CASE("SwiGLU is its definition in elementary ops, forward and backward") {
  for (const Index count : {1, 3, 16, 17, 65})
    testing::check_same([](const Inputs& in) { return swiglu(in[0], in[1]); },
                        [](const Inputs& in) { return definition(in[0], in[1]); },
                        {random_tensor({count}, 1, 2), random_tensor({count}, 2)});
}

TEST_CASE("SwiGLU passes a wide open gate through, shuts a closed one, and never overflows") {
  const Variable gate(Tensor({5}, {1000, -1000, 0, 1, -1}));
  const Variable x(Tensor({5}, {2, 3, 4, 1, 1}));
  const double sigmoid = 1 / (1 + std::exp(-1.0));
  testing::check_close(swiglu(gate, x).value(), {5}, {2000, 0, 0, sigmoid, -(1 - sigmoid)});
}

TEST_CASE("SwiGLU says what it expects") {
  CHECK_THROWS_WITH_AS(swiglu(Variable(Tensor({2, 3})), Variable(Tensor({3, 2}))),
                       "[swiglu] expected gate and x of one shape, got (2, 3) and (3, 2)", Error);
}

}  // namespace tapehead
