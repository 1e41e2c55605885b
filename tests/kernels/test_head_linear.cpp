#include "tapehead/kernels/head_linear.h"

#include "support/functions.h"
#include "tapehead/autograd/attention.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/matmul.h"

namespace tapehead {

namespace {

using testing::Inputs;
using testing::random_tensor;

/// (B, T, H*D) to (B, H, T, D), times (H, D, D), and back.
Variable definition(const Variable& x, const Variable& weight) {
  const Shape& s = x.shape();
  const Index width = weight.shape()[1];
  const Index heads = s[2] / width;
  const Variable split = transpose(reshape(x, {s[0], s[1], heads, width}), 1, 2);
  const Variable y = matmul(split, transpose(reshape(weight, {heads, width, width}), 1, 2));
  return reshape(transpose(y, 1, 2), s);
}

}  // namespace

TEST_CASE("a map of each head is a stack of matrix products, forward and backward") {
  for (const Index heads : {1, 2, 3})
    testing::check_same([](const Inputs& in) { return head_linear(in[0], in[1]); },
                        [](const Inputs& in) { return definition(in[0], in[1]); },
                        {random_tensor({2, 3, 12}, 1), random_tensor({12, 12 / heads}, 2)});
}

TEST_CASE("a map of one head is a linear layer") {
  const Variable x(random_tensor({2, 3, 5}, 1));
  const Variable weight(random_tensor({5, 5}, 2));
  testing::check_close(head_linear(x, weight).value(), linear(x, weight).value());
}

TEST_CASE("a map of each head says what it expects") {
  CHECK_THROWS_WITH_AS(head_linear(Variable(Tensor({1, 3, 4})), Variable(Tensor({4, 3}))),
                       "[head_linear] expected x (B, T, H*D) and weight (H*D, D), got (1, 3, 4) and (4, 3)",
                       Error);
}

}  // namespace tapehead
