#include "tapehead/autograd/attention.h"

#include <cmath>
#include <limits>
#include <vector>

#include "support/attention.h"
#include "support/functions.h"
#include "tapehead/autograd/elementary.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::gradient_error;
using testing::Inputs;
using testing::random_tensor;

/// What tiled attention computes in one op.
Variable definition(const Variable& q, const Variable& k, const Variable& v, Index heads,
                    const AttentionMask& mask, const Scoring& scoring) {
  return testing::mix_definition(testing::pattern_definition(q, k, heads, mask, scoring), v);
}

/// The second sequence has pads at its start and within; the third is nothing else.
Mask padded(Index keys) {
  Mask visible(3, keys, 1);
  for (Index j = 0; j < (keys + 1) / 2; ++j) visible(1, j) = 0;
  visible(1, keys - 1) = 0;
  for (Index j = 0; j < keys; ++j) visible(2, j) = 0;
  return visible;
}

std::vector<Tensor> random_inputs(Index batch, Index length, Index keys, Index width, double scale = 1) {
  return {random_tensor({batch, length, width}, 1, scale), random_tensor({batch, keys, width}, 2, scale),
          random_tensor({batch, keys, width}, 3)};
}

Variable zeros(const Shape& shape) { return Variable(Tensor(shape)); }

}  // namespace

TEST_CASE("tiled attention is its definition in elementary ops, forward and backward, at any length") {
  // Around the edges of a tile, of a few tiles, and of a vector.
  for (const Index length : {1, 3, 16, 63, 65, 97, 200})
    for (const Index earlier : {0, 1, 70})
      for (const bool causal : {true, false}) {
        const Index heads = 2, keys = length + earlier;
        CAPTURE(length);
        CAPTURE(earlier);
        CAPTURE(causal);
        const AttentionMask mask{.causal = causal, .visible = padded(keys)};
        testing::check_same(
            [&](const Inputs& in) { return tiled_attention(in[0], in[1], in[2], heads, mask); },
            [&](const Inputs& in) { return definition(in[0], in[1], in[2], heads, mask, {}); },
            random_inputs(3, length, keys, 2 * 5));
      }
}

TEST_CASE("tiled attention is the mix by the pattern, for heads of any width") {
  for (const Index head_width : {1, 3, 16, 17, 64, 65, 300})
    for (const bool causal : {true, false}) {
      CAPTURE(head_width);
      CAPTURE(causal);
      const AttentionMask mask{.causal = causal, .visible = {}};
      testing::check_same(
          [&](const Inputs& in) { return tiled_attention(in[0], in[1], in[2], 2, mask); },
          [&](const Inputs& in) { return attention_mix(attention_pattern(in[0], in[1], 2, mask), in[2]); },
          random_inputs(2, 131, 131, 2 * head_width));
    }
}

TEST_CASE("tiled attention is the mix by the pattern over more keys than it lays out at once") {
  for (const Index length : {30, 1100})
    for (const bool causal : {true, false}) {
      CAPTURE(length);
      CAPTURE(causal);
      const Index keys = 1100;
      AttentionMask mask{.causal = causal, .visible = Mask(1, keys, 1)};
      for (Index j = 1000; j < 1060; ++j) mask.visible(0, j) = 0;
      testing::check_same(
          [&](const Inputs& in) { return tiled_attention(in[0], in[1], in[2], 1, mask); },
          [&](const Inputs& in) { return attention_mix(attention_pattern(in[0], in[1], 1, mask), in[2]); },
          random_inputs(1, length, keys, 3));
    }
}

TEST_CASE("tiled attention takes a scale, and slopes that lower the scores of distant keys") {
  for (const Index earlier : {0, 9}) {
    CAPTURE(earlier);
    const Scoring scoring{.scale = 0.3, .slopes = {Real(0.5), Real(0.01), 0}};
    const AttentionMask mask{.visible = padded(150 + earlier)};
    testing::check_same(
        [&](const Inputs& in) { return tiled_attention(in[0], in[1], in[2], 3, mask, scoring); },
        [&](const Inputs& in) { return definition(in[0], in[1], in[2], 3, mask, scoring); },
        random_inputs(3, 150, 150 + earlier, 3 * 4));
  }
}

TEST_CASE("scores of a million neither overflow nor lose their order in tiled attention") {
  for (const bool causal : {true, false}) {
    const AttentionMask mask{.causal = causal, .visible = {}};
    const std::vector<Tensor> inputs = random_inputs(1, 200, 200, 4, 1000);
    const testing::Function tiled = [&](const Inputs& in) {
      return tiled_attention(in[0], in[1], in[2], 1, mask);
    };
    for (const Real number : testing::outcome_of(tiled, inputs).value.values()) CHECK(std::isfinite(number));
    testing::check_same(
        tiled,
        [&](const Inputs& in) { return attention_mix(attention_pattern(in[0], in[1], 1, mask), in[2]); },
        inputs, 100 * testing::kRounding);
  }
}

TEST_CASE("a query that may see no key has an output of 0 in tiled attention and passes no gradient") {
  Tape tape;
  const std::vector<Tensor> inputs = random_inputs(3, 150, 150, 4);
  const Variable q = tape.variable(inputs[0]), k = tape.variable(inputs[1]), v = tape.variable(inputs[2]);
  const Mask visible = padded(150);  // of the second sequence, the first 75 are hidden
  const Variable z = tiled_attention(q, k, v, 2, {.visible = visible});
  const Tensor outputs = z.value();
  tape.backward(testing::weighed(z));
  for (Index b = 0; b < 3; ++b)
    for (Index t = 0; t < 150; ++t)
      for (Index c = 0; c < 4; ++c) {
        const bool blind = b == 2 || (b == 1 && t < 75);
        CHECK((outputs(b, t, c) == 0) == blind);
        if (blind) CHECK(q.gradient()(b, t, c) == 0);
        if (visible(b, t) == 0) {
          CHECK(k.gradient()(b, t, c) == 0);
          CHECK(v.gradient()(b, t, c) == 0);
        }
      }
}

TEST_CASE("what a hidden key holds changes no output of tiled attention, even where it is not a number") {
  std::vector<Tensor> inputs = random_inputs(3, 150, 150, 4);
  const AttentionMask mask{.visible = padded(150)};
  const testing::Function tiled = [&](const Inputs& in) {
    return tiled_attention(in[0], in[1], in[2], 2, mask);
  };
  const Tensor before = testing::outcome_of(tiled, inputs).value;
  for (const Real value : {std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::quiet_NaN()}) {
    inputs[1](1, 10, 0) = value;
    CHECK(testing::same_bits(testing::outcome_of(tiled, inputs).value, before));
  }
}

TEST_CASE("a hidden key passes no gradient, tiled or not, even where its weight's own overflows") {
  const AttentionMask mask{.visible = padded(150)};
  const testing::Function forms[]{
      [&](const Inputs& in) { return scale(tiled_attention(in[0], in[1], in[2], 2, mask), 4); },
      [&](const Inputs& in) {
        return scale(attention_mix(attention_pattern(in[0], in[1], 2, mask), in[2]), 4);
      }};
  for (const testing::Function& form : forms) {
    std::vector<Tensor> inputs = random_inputs(3, 150, 150, 4);
    const testing::Outcome before = testing::outcome_of(form, inputs);
    for (Index c = 0; c < 4; ++c) inputs[2](1, 10, c) = std::numeric_limits<Real>::max();
    const testing::Outcome after = testing::outcome_of(form, inputs);
    CHECK(testing::same_bits(after.value, before.value));
    for (std::size_t i = 0; i < 3; ++i) CHECK(testing::same_bits(after.gradients[i], before.gradients[i]));
  }
}

DOUBLE_TEST_CASE("tiled attention passes the gradient check, also when one value is all its inputs") {
  constexpr double kWorst = 1e-6;
  for (const bool causal : {true, false}) {
    const AttentionMask mask{.causal = causal, .visible = padded(150)};
    const Scoring scoring{.scale = 0.3,
                          .slopes = causal ? std::vector<Real>{Real(0.1), 0} : std::vector<Real>{}};
    CHECK(gradient_error(
              [&](const Inputs& in) { return tiled_attention(in[0], in[1], in[2], 2, mask, scoring); },
              random_inputs(3, 140, 150, 4)) < kWorst);
    CHECK(gradient_error([&](const Inputs& in) { return tiled_attention(in[0], in[0], in[0], 2, mask); },
                         {random_tensor({3, 150, 4}, 1)}) < kWorst);
  }
}

TEST_CASE("one value in several roles of tiled attention has the sum of what each role gets") {
  const Tensor rows = random_tensor({2, 150, 6}, 2);
  testing::check_roles([](const Inputs& in) { return tiled_attention(in[0], in[1], in[1], 2); }, rows);
  testing::check_roles([](const Inputs& in) { return tiled_attention(in[1], in[0], in[1], 2); }, rows);
  testing::check_roles([](const Inputs& in) { return tiled_attention(in[0], in[0], in[1], 2); }, rows);
}

TEST_CASE("tiled attention says what does not fit") {
  const Variable x = zeros({1, 3, 4});
  CHECK_THROWS_WITH_AS(
      tiled_attention(x, x, zeros({1, 3, 2}), 2),
      "[attention] expected queries (B, T, C), keys and values (B, K, C) with C divisible by "
      "2 heads and K at least T, got (1, 3, 4), (1, 3, 4) and (1, 3, 2)",
      Error);
  CHECK_THROWS_AS(tiled_attention(x, x, x, 3), Error);
  CHECK_THROWS_AS(tiled_attention(x, x, x, 0), Error);
  CHECK_THROWS_AS(tiled_attention(x, zeros({1, 2, 4}), zeros({1, 2, 4}), 2), Error);
  CHECK_THROWS_WITH_AS(tiled_attention(x, x, x, 2, {.visible = Mask(1, 2, 1)}),
                       "[attention] expected a padding mask (1, 3), got (1, 2)", Error);
  CHECK_THROWS_WITH_AS(tiled_attention(x, x, x, 2, {}, {.slopes = {1}}),
                       "[attention] expected a slope for each of 2 heads, got 1", Error);
  CHECK_THROWS_WITH_AS(tiled_attention(x, x, x, 2, {.causal = false, .visible = {}}, {.slopes = {1, 1}}),
                       "[attention] slopes need a causal mask: a later key has no distance", Error);
}

}  // namespace tapehead
