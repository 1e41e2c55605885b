#include "tapehead/autograd/fused.h"

#include <cmath>

#include "support/ops.h"
#include "tapehead/autograd/attention.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Function;
using testing::gradient_error;
using testing::Inputs;
using testing::random_tensor;

constexpr double kWorst = 1e-6;

// Three tokens whose queries and keys are the same, as in the worked example.
const Tensor kThreeKeys({1, 3, 2}, {1, 0, 0, 1, 1, 1});
const Tensor kThreeValues({1, 3, 2}, {1, 0, 0, 2, 3, 3});
const AttentionMask kNoMask{.causal = false, .visible = {}};

Tensor pattern_of(const Tensor& q, const Tensor& k, const AttentionMask& mask = {}) {
  return attention_pattern(Variable(q), Variable(k), 1, mask).value();
}

Tensor mix_of(const Tensor& pattern, const Tensor& values) {
  return attention_mix(Variable(pattern), Variable(values)).value();
}

Tensor times(Tensor x, double factor) {
  for (Real& value : x.values()) value *= static_cast<Real>(factor);
  return x;
}

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
  CHECK(gradient_error([](const Inputs& in) { return attention_pattern(in[0], in[0], 2, kNoMask); },
                       {random_tensor({2, 17, 4}, 1)}) < kWorst);
}

TEST_CASE("one value in several roles of a fused op has the sum of what each role gets") {
  const Tensor square = random_tensor({3, 3}, 1);
  const Tensor rows = random_tensor({2, 17, 6}, 2);
  const Tensor vector = random_tensor({5}, 3);
  testing::check_roles([](const Inputs& in) { return linear(in[0], in[1]); }, square);
  testing::check_roles(
      [](const Inputs& in) {
        return linear(in[0], Variable(Tensor({5, 5})), in[1]);
      },
      vector);
  testing::check_roles([](const Inputs& in) { return attention_pattern(in[0], in[1], 2); }, rows);
  testing::check_roles([](const Inputs& in) { return attention_pattern(in[0], in[1], 3, kNoMask); }, rows);
  testing::check_roles(
      [](const Inputs& in) { return attention_mix(attention_pattern(in[0], in[1], 2), in[0]); }, rows);
  for (const Function& roles :
       {Function([](const Inputs& in) { return layer_norm(in[0], in[1], {}, Real(1e-5)); }),
        Function([](const Inputs& in) { return layer_norm(in[0], in[1], in[1], Real(1e-5)); }),
        Function([](const Inputs& in) { return layer_norm(in[0], in[1], in[0], Real(1e-5)); })})
    testing::check_roles(roles, vector);
}

TEST_CASE("attention without parameters gives the worked values for three words") {
  const Tensor words({1, 3, 4}, {1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1});
  const Tensor unscaled = times(words, 2);  // undoes the division by sqrt(4)
  const Tensor weights = pattern_of(unscaled, words, kNoMask);
  check_close(weights, {1, 1, 3, 3},
              {0.665240955775, 0.0900305731704, 0.244728471055, 0.0900305731704, 0.665240955775,
               0.244728471055, 0.211941557617, 0.211941557617, 0.576116884766});
  check_close(
      mix_of(weights, words), {1, 3, 4},
      {0.665240955775, 0.334759044225, 0.0900305731704, 0.90996942683, 0.0900305731704, 0.90996942683,
       0.665240955775, 0.334759044225, 0.211941557617, 0.788058442383, 0.211941557617, 0.788058442383});
}

TEST_CASE("queries, keys and values of three words give the worked weights and outputs under the mask") {
  const Variable words(Tensor({1, 3, 4}, {1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1}));
  const Variable q = linear(words, Variable(Tensor({2, 4}, {1, 0, 0, 0, 0, 1, 0, 0})));
  const Variable k = linear(words, Variable(Tensor({2, 4}, {0, 0, 1, 0, 0, 0, 0, 1})));
  const Variable v = linear(words, Variable(Tensor({2, 4}, {1, 0, 0, 0, 0, 0, 1, 0})));
  check_close(q.value(), {1, 3, 2}, {1, 0, 0, 1, 0, 1}, 0);
  check_close(k.value(), {1, 3, 2}, {0, 1, 1, 0, 0, 1}, 0);
  check_close(v.value(), {1, 3, 2}, {1, 0, 0, 1, 0, 0}, 0);
  check_close(matmul(q, transpose(k, 1, 2)).value(), {1, 3, 3}, {0, 1, 0, 1, 0, 1, 1, 0, 1}, 0);
  const Variable weights = attention_pattern(q, k, 1);
  check_close(weights.value(), {1, 1, 3, 3},
              {1, 0, 0, 0.669761549327, 0.330238450673, 0, 0.40111209268, 0.19777581464, 0.40111209268});
  check_close(attention_mix(weights, v).value(), {1, 3, 2},
              {1, 0, 0.669761549327, 0.330238450673, 0.40111209268, 0.19777581464});
}

TEST_CASE(
    "a soft lookup blends the values, and becomes a hard one or an average as its scores grow or vanish") {
  const auto look_up = [](double factor) {
    const Tensor weights = pattern_of(times(kThreeKeys, factor), kThreeKeys);
    const Tensor outputs = mix_of(weights, kThreeValues);
    return Tensor({5}, {weights(0, 0, 2, 0), weights(0, 0, 2, 1), weights(0, 0, 2, 2), outputs(0, 2, 0),
                        outputs(0, 2, 1)});
  };
  check_close(look_up(1), {5},
              {0.248255078258, 0.248255078258, 0.503489843485, 1.75872460871, 2.00697968697});
  check_close(look_up(10), {5},
              {0.0008478854429, 0.0008478854429, 0.998304229114, 2.99576057279, 2.99660845823});
  check_close(look_up(0), {5}, {1 / 3.0, 1 / 3.0, 1 / 3.0, 4 / 3.0, 5 / 3.0});
  check_close(look_up(10000), {5}, {0, 0, 1, 3, 3}, 0);
}

TEST_CASE("three tokens give the worked weights and outputs, with and without the mask and the scale") {
  const double unscale = std::sqrt(2.0);
  const Tensor causal = pattern_of(kThreeKeys, kThreeKeys);
  check_close(causal, {1, 1, 3, 3},
              {1, 0, 0, 0.330238450673, 0.669761549327, 0, 0.248255078258, 0.248255078258, 0.503489843485});
  check_close(mix_of(causal, kThreeValues), {1, 3, 2},
              {1, 0, 0.330238450673, 1.33952309865, 1.75872460871, 2.00697968697});

  const Tensor full = pattern_of(kThreeKeys, kThreeKeys, kNoMask);
  check_close(full, {1, 1, 3, 3},
              {0.40111209268, 0.19777581464, 0.40111209268, 0.19777581464, 0.40111209268, 0.40111209268,
               0.248255078258, 0.248255078258, 0.503489843485});
  check_close(mix_of(full, kThreeValues), {1, 3, 2},
              {1.60444837072, 1.59888790732, 1.40111209268, 2.0055604634, 1.75872460871, 2.00697968697});

  const Tensor unscaled = pattern_of(times(kThreeKeys, unscale), kThreeKeys);
  check_close(unscaled, {1, 1, 3, 3},
              {1, 0, 0, 0.26894142137, 0.73105857863, 0, 0.211941557617, 0.211941557617, 0.576116884766});
  check_close(mix_of(unscaled, kThreeValues), {1, 3, 2},
              {1, 0, 0.26894142137, 1.46211715726, 1.94029221191, 2.15223376953});
}

TEST_CASE("the backward pass of three tokens gives the gradients worked out by hand") {
  Tape tape;
  const Variable q = tape.variable(kThreeKeys);
  const Variable k = tape.variable(kThreeKeys);
  const Variable v = tape.variable(kThreeValues);
  const Variable p = attention_pattern(q, k, 1);
  const Variable o = attention_mix(p, v);
  tape.backward(sum(slice(slice(o, 1, 2, 3), 2, 1, 2)));  // token 3's second component
  check_close(p.gradient(), {1, 1, 3, 3}, {0, 0, 0, 0, 0, 0, 0, 2, 3}, 0);
  check_close(v.gradient(), {1, 3, 2}, {0, 0.248255078258, 0, 0.248255078258, 0, 0.503489843485});
  check_close(q.gradient(), {1, 3, 2}, {0, 0, 0, 0, 0.0012252341378, 0.352310932738});
  // Each key's gradient is its score's, -0.498, -0.002 and 0.500, times the query (1, 1) over sqrt(2).
  check_close(
      k.gradient(), {1, 3, 2},
      {-0.49824289925 / std::sqrt(2.0), -0.49824289925 / std::sqrt(2.0), -0.0017327427347 / std::sqrt(2.0),
       -0.0017327427347 / std::sqrt(2.0), 0.499975641985 / std::sqrt(2.0), 0.499975641985 / std::sqrt(2.0)});
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
  CHECK_THROWS_WITH_AS(attention_pattern(zeros({8, 32, 90}), zeros({8, 32, 90}), 4),
                       "[attention] expected queries (B, T, C) and keys (B, K, C) with C divisible by 4 "
                       "heads and K at least T, got "
                       "(8, 32, 90) and (8, "
                       "32, 90)",
                       Error);
  CHECK_THROWS_AS(attention_pattern(zeros({1, 3, 4}), zeros({1, 2, 4}), 2), Error);
  CHECK_THROWS_AS(attention_pattern(zeros({1, 3, 4}), zeros({1, 3, 4}), 0), Error);
  CHECK_THROWS_WITH_AS(attention_pattern(zeros({1, 3, 4}), zeros({1, 3, 4}), 2, {.visible = Mask(1, 2, 1)}),
                       "[attention] expected a padding mask (1, 3), got (1, 2)", Error);
  CHECK_THROWS_WITH_AS(attention_mix(zeros({1, 2, 3, 3}), zeros({1, 3, 5})),
                       "[attention] expected pattern (B, H, T, K) and values (B, K, C) with C divisible by "
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
                       "[cross_entropy] expected token ids between 0 and 3, or -1 where ignored, got 4",
                       Error);
  CHECK_THROWS_AS(cross_entropy(logits, Tokens(1, 2, {0, -2})), Error);
  CHECK_NOTHROW(cross_entropy(logits, Tokens(1, 2, {0, -100}), {.ignored = -100}));
  CHECK_THROWS_WITH_AS(cross_entropy(logits, Tokens(1, 2, {0, kIgnored}), {.ignored = -100}),
                       "[cross_entropy] expected token ids between 0 and 3, or -100 where ignored, got -1",
                       Error);
}

TEST_CASE("a dropout probability outside 0 to 1 is refused") {
  Generator generator(1);
  for (const double p : {-0.1, 1.1, std::nan("")})
    CHECK_THROWS_AS(dropout(Variable(Tensor(Shape{3})), p, generator), Error);
}

}  // namespace tapehead
