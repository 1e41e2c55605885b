#include "tapehead/kernels/cross_entropy.h"

#include <cmath>
#include <limits>

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

/// -log softmax(logits)[target], (B, T), in elementary ops.
Variable surprise(const Variable& logits, const Tokens& targets) {
  const Variable exps = exp(logits - max(logits, -1));
  return scale(gather(log(exps / sum(exps, -1)), targets), -1);
}

/// Logits over two tokens of which token 0 costs these losses.
Variable logits_for(const Shape& shape, std::initializer_list<double> losses) {
  Tensor logits(Shape{shape[0], shape[1], 2});
  Real* next = logits.data();
  for (const double loss : losses) {
    next[1] = static_cast<Real>(std::log(std::exp(loss) - 1));
    next += 2;
  }
  return Variable(logits);
}

struct Result {
  double loss;
  Tensor gradient;
};

Result result_of(const Tensor& logits, const Tokens& targets, const CrossEntropyOptions& options = {}) {
  Tape tape;
  const Variable x = tape.variable(logits);
  const Variable loss = cross_entropy(x, targets, options);
  tape.backward(loss);
  return {static_cast<double>(loss.item()), x.gradient()};
}

}  // namespace

TEST_CASE("cross entropy is the mean of -log softmax at the targets, forward and backward") {
  for (const Index vocabulary : {1, 3, 17, 63, 65}) {
    CAPTURE(vocabulary);
    const Tokens targets = testing::random_tokens(3, 17, vocabulary, 1);
    testing::check_same([&](const Inputs& in) { return cross_entropy(in[0], targets); },
                        [&](const Inputs& in) { return mean(surprise(in[0], targets)); },
                        {random_tensor({3, 17, vocabulary}, 2, 2)});
  }
}

TEST_CASE("weights multiply each position's loss, and the sum is divided by them or by the divisor") {
  const Tokens targets = testing::random_tokens(3, 5, 7, 1);
  Tensor weights = random_tensor({3, 5}, 2);
  for (Real& weight : weights.values()) weight = std::abs(weight);
  const Tensor logits = random_tensor({3, 5, 7}, 3);
  const auto weighted = [&](const Inputs& in) { return sum(surprise(in[0], targets) * Variable(weights)); };
  testing::check_same([&](const Inputs& in) { return cross_entropy(in[0], targets, {.weights = weights}); },
                      [&](const Inputs& in) { return weighted(in) / sum(Variable(weights)); }, {logits});
  testing::check_same(
      [&](const Inputs& in) { return cross_entropy(in[0], targets, {.weights = weights, .divisor = 12}); },
      [&](const Inputs& in) { return scale(weighted(in), Real(1) / 12); }, {logits});
}

TEST_CASE("a model that expects its own input again pays for every target that differs") {
  Tensor logits(Shape{1, 3, 8});
  logits(0, 0, 5) = 20;
  logits(0, 1, 1) = 20;
  logits(0, 2, 4) = 20;
  CHECK(result_of(logits, Tokens(1, 3, {1, 4, 1})).loss == doctest::Approx(20.0000).epsilon(1e-7));
  CHECK(result_of(logits, Tokens(1, 3, {5, 1, 4})).loss < 1.5e-8);
}

TEST_CASE("a weight below 0, or none, is refused") {
  for (const Real weight :
       {Real{-1}, std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()})
    CHECK_THROWS_AS(
        cross_entropy(Variable(Tensor({1, 2, 3})), Tokens(1, 2), {.weights = Tensor({1, 2}, {1, weight})}),
        Error);
}

TEST_CASE("equal logits cost log V") {
  CHECK(result_of(Tensor(Shape{1, 2, 8}), Tokens(1, 2, {0, 7})).loss == doctest::Approx(2.079442));
}

TEST_CASE("huge logits give a finite loss and gradient") {
  const Result far = result_of(Tensor({1, 1, 3}, {1000, 0, -1000}), Tokens(1, 1, 1));
  CHECK(far.loss == 1000);
  check_close(far.gradient, {1, 1, 3}, {1, -1, 0}, 0);
  const Result even = result_of(Tensor({1, 1, 2}, {Real(1e8), Real(1e8)}), Tokens(1, 1));
  CHECK(even.loss == doctest::Approx(0.693147));
  check_close(even.gradient, {1, 1, 2}, {-0.5, 0.5}, 0);
}

TEST_CASE("masked positions count neither in the sum nor in the divisor") {
  const Variable logits = logits_for({2, 3}, {2, 1, 3, 6, 9, 9});
  const Tokens targets(2, 3, {0, 0, 0, 0, kIgnored, kIgnored});
  const Tensor mask({2, 3}, {1, 1, 1, 1, 0, 0});
  CHECK(static_cast<double>(cross_entropy(logits, targets).item()) == doctest::Approx(3));
  for (const std::int32_t masked : {0, 1})
    CHECK(static_cast<double>(
              cross_entropy(logits, Tokens(2, 3, {0, 0, 0, 0, masked, masked}), {.weights = mask}).item()) ==
          doctest::Approx(3));
}

TEST_CASE("an ignored or weightless position gets a gradient of exactly 0, whatever its logits are") {
  Tensor logits = random_tensor({1, 3, 4}, 1);
  for (Index v = 0; v < 4; ++v) logits(0, 1, v) = std::numeric_limits<Real>::quiet_NaN();
  const Result ignored = result_of(logits, Tokens(1, 3, {0, kIgnored, 2}));
  const Result weightless =
      result_of(logits, Tokens(1, 3, {0, 3, 2}), {.weights = Tensor({1, 3}, {1, 0, 1})});
  CHECK(std::isfinite(ignored.loss));
  CHECK(weightless.loss == ignored.loss);
  for (Index v = 0; v < 4; ++v) CHECK(ignored.gradient(0, 1, v) == 0);
  CHECK(testing::same_bits(weightless.gradient, ignored.gradient));
}

TEST_CASE(
    "what an ignored position holds, and by which id it is ignored, changes no bit of loss and gradient") {
  const Tensor logits = random_tensor({2, 3, 4}, 1);
  Tensor others = logits;
  for (const Index t : {1, 2})
    for (Index v = 0; v < 4; ++v) others(1, t, v) = Real(1e30) * static_cast<Real>(t + v);
  const auto targets = [](std::int32_t ignored) { return Tokens(2, 3, {0, 3, 2, 1, ignored, ignored}); };
  const Result usual = result_of(logits, targets(kIgnored));
  CHECK(usual.loss ==
        doctest::Approx(result_of(logits, targets(0), {.weights = Tensor({2, 3}, {1, 1, 1, 1, 0, 0})}).loss));
  for (const std::int32_t ignored : {-100, -1, 4, 50256}) {
    CAPTURE(ignored);
    for (const Tensor& held : {logits, others}) {
      const Result result = result_of(held, targets(ignored), {.ignored = ignored});
      CHECK(result.loss == usual.loss);
      CHECK(testing::same_bits(result.gradient, usual.gradient));
    }
  }
}

TEST_CASE("an ignored id that is a token's is ignored wherever it stands") {
  const Tensor logits = random_tensor({1, 4, 5}, 1);
  const Tokens targets(1, 4, {2, 0, 4, 0});
  const Result result = result_of(logits, targets, {.ignored = 0});
  const Result expected = result_of(logits, Tokens(1, 4, {2, kIgnored, 4, kIgnored}));
  CHECK(result.loss == expected.loss);
  CHECK(testing::same_bits(result.gradient, expected.gradient));
  CHECK(result.loss != doctest::Approx(result_of(logits, targets).loss));
  const Result nothing = result_of(logits, Tokens(1, 4), {.ignored = 0});
  CHECK(nothing.loss == 0);
  CHECK(testing::same_bits(nothing.gradient, Tensor(logits.shape())));
}

TEST_CASE("where nothing counts the loss is 0 and so is the gradient") {
  const Tensor logits = random_tensor({2, 3, 4}, 1);
  const Tokens ignored(2, 3, kIgnored);
  for (const double divisor : {0.0, 5.0}) {
    const Result result = result_of(logits, ignored, {.divisor = divisor});
    CHECK(result.loss == 0);
    CHECK(testing::same_bits(result.gradient, Tensor(logits.shape())));
  }
  const Result weightless = result_of(logits, Tokens(2, 3), {.weights = Tensor(Shape{2, 3})});
  CHECK(weightless.loss == 0);
  CHECK(testing::same_bits(weightless.gradient, Tensor(logits.shape())));
}

TEST_CASE("small losses are not lost beside a large one") {
  // 2^24 + 1 is not a float: a running total in float would stay where it is.
  Tensor logits(Shape{1, 5, 2});
  logits(0, 0, 1) = 16777216;
  for (Index t = 1; t < 5; ++t) logits(0, t, 1) = 40;
  CHECK(result_of(logits, Tokens(1, 5), {.divisor = 1}).loss == 16777216 + 160);
}

TEST_CASE("shards that are divided by the whole batch's count add up to its mean") {
  const Tensor logits = random_tensor({3, 4, 5}, 1);
  const Tokens targets = testing::random_tokens(3, 4, 5, 2);
  const Result whole = result_of(logits, targets);
  double total = 0;
  for (const Index b : {0, 1, 2}) {
    const Tensor shard({1, 4, 5}, logits.values().subspan(static_cast<std::size_t>(b * 20), 20));
    total += result_of(shard, targets.rows(b, 1), {.divisor = 12}).loss;
  }
  CHECK(total == doctest::Approx(whole.loss));
}

TEST_CASE("the cross entropy kernel adds to the logits' gradient") {
  const Tensor logits(Shape{1, 2});
  const std::int32_t target = 1;
  const Real dloss = 2;
  Tensor dlogits({1, 2}, {10, 10});
  kernels::cross_entropy_backward(dlogits.data(), &dloss, logits.data(), &target, 1, 2);
  check_close(dlogits, {1, 2}, {11, 9}, 0);
}

}  // namespace tapehead
