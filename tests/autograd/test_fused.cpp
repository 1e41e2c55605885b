#include "tapehead/autograd/fused.h"

#include <cmath>

#include "support/ops.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using testing::gradient_error;
using testing::Inputs;
using testing::random_tensor;

constexpr double kWorst = 1e-6;

}  // namespace

DOUBLE_TEST_CASE("every fused op passes the gradient check") {
  for (const testing::Op& op : testing::fused_ops()) {
    CAPTURE(op.name);
    CHECK(gradient_error(op.function, op.inputs) < kWorst);
  }
}

DOUBLE_TEST_CASE("fused ops pass the gradient check when one value is several of their inputs") {
  CHECK(gradient_error([](const Inputs& in) { return attention_pattern(in[0], in[0], 2); },
                       {random_tensor({2, 3, 4}, 1)}) < kWorst);
  CHECK(gradient_error(
            [](const Inputs& in) { return attention_mix(attention_pattern(in[0], in[0], 1), in[0]); },
            {random_tensor({2, 3, 4}, 1)}) < kWorst);
  CHECK(gradient_error([](const Inputs& in) { return linear(in[0], in[0]); }, {random_tensor({3, 3}, 1)}) <
        kWorst);
  CHECK(gradient_error([](const Inputs& in) { return layer_norm(in[0], in[0], in[0], Real(1e-5)); },
                       {random_tensor({5}, 1)}) < kWorst);
}

TEST_CASE("fused ops name what was expected and what came") {
  const auto zeros = [](const Shape& shape) { return Variable(Tensor(shape)); };
  CHECK_THROWS_WITH_AS(
      linear(zeros({2, 3}), zeros({4, 2})),
      "[linear] expected x (..., inputs) and weight (outputs, inputs), got (2, 3) and (4, 2)", Error);
  CHECK_THROWS_WITH_AS(linear(zeros({2, 3}), zeros({4, 3}), zeros({3})),
                       "[linear] expected bias (4), got (3)", Error);
  CHECK_THROWS_WITH_AS(layer_norm(zeros({2, 3}), zeros({2}), {}, 1),
                       "[layer_norm] expected x (..., C), gain (C) and bias (C), got (2, 3), (2) and ()",
                       Error);
  CHECK_THROWS_WITH_AS(layer_norm(zeros({2, 3}), zeros({3}), {}, 0),
                       "[layer_norm] expected an epsilon above 0, got 0", Error);
  CHECK_THROWS_WITH_AS(
      attention_pattern(zeros({8, 32, 90}), zeros({8, 32, 90}), 4),
      "[attention] expected queries and keys (B, T, C) with C divisible by 4 heads, got (8, 32, 90) and (8, "
      "32, 90)",
      Error);
  CHECK_THROWS_AS(attention_pattern(zeros({1, 3, 4}), zeros({1, 2, 4}), 2), Error);
  CHECK_THROWS_AS(attention_pattern(zeros({1, 3, 4}), zeros({1, 3, 4}), 0), Error);
  CHECK_THROWS_WITH_AS(attention_pattern(zeros({1, 3, 4}), zeros({1, 3, 4}), 2, {.visible = Mask(1, 2, 1)}),
                       "[attention] expected a padding mask (1, 3), got (1, 2)", Error);
  CHECK_THROWS_WITH_AS(attention_mix(zeros({1, 2, 3, 3}), zeros({1, 3, 5})),
                       "[attention] expected pattern (B, H, T, T) and values (B, T, C) with C divisible by "
                       "H, got (1, 2, 3, 3) and (1, 3, 5)",
                       Error);
  CHECK_THROWS_WITH_AS(cross_entropy(zeros({1, 2, 3}), Tokens(2, 1)),
                       "[cross_entropy] expected logits (B, T, V) for targets (2, 1), got (1, 2, 3)", Error);
  CHECK_THROWS_WITH_AS(cross_entropy(zeros({1, 2, 3}), Tokens(1, 2), {.weights = Tensor(Shape{2})}),
                       "[cross_entropy] expected weights (1, 2), got (2)", Error);
  CHECK_THROWS_AS(cross_entropy(zeros({1, 2, 3}), Tokens(1, 2), {.divisor = -1}), Error);
}

TEST_CASE("token ids outside the table are refused, and only cross entropy knows an ignored one") {
  const Variable table(Tensor(Shape{4, 2}));
  const Variable logits(Tensor(Shape{1, 2, 4}));
  CHECK_THROWS_WITH_AS(embedding(table, Tokens(1, 2, {0, 4})),
                       "[embedding] expected token ids between 0 and 3, got 4", Error);
  CHECK_THROWS_AS(embedding(table, Tokens(1, 2, {0, kIgnored})), Error);
  CHECK_NOTHROW(cross_entropy(logits, Tokens(1, 2, {3, kIgnored})));
  CHECK_THROWS_WITH_AS(cross_entropy(logits, Tokens(1, 2, {0, 4})),
                       "[cross_entropy] expected token ids between 0 and 3, got 4", Error);
  CHECK_THROWS_AS(cross_entropy(logits, Tokens(1, 2, {0, -2})), Error);
}

TEST_CASE("a dropout probability outside 0 to 1 is refused") {
  Generator generator(1);
  for (const double p : {-0.1, 1.1, std::nan("")})
    CHECK_THROWS_AS(dropout(Variable(Tensor(Shape{3})), p, generator), Error);
}

}  // namespace tapehead
