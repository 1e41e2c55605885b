#include "tapehead/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "support/attention.h"
#include "support/functions.h"
#include "tapehead/autograd/attention.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::mix_definition;
using testing::pattern_definition;
using testing::random_tensor;

Tensor pattern_of(const Tensor& q, const Tensor& k, Index heads = 1, const AttentionMask& mask = {}) {
  return attention_pattern(Variable(q), Variable(k), heads, mask).value();
}

Tensor mix_of(const Tensor& pattern, const Tensor& values) {
  return attention_mix(Variable(pattern), Variable(values)).value();
}

/// The columns of one head of a (B, T, H*D) array.
Tensor head_of(const Tensor& x, Index head, Index head_width) {
  return slice(Variable(x), -1, head * head_width, (head + 1) * head_width).value();
}

const AttentionMask kNoMask{.causal = false, .visible = {}};

/// Sets to 0 what lies after each query's own position in one of the heads of all sequences together.
void hide_ahead(Tensor& pattern, Index head) {
  const Index length = pattern.shape()[3];
  for (Index i = 0; i < length; ++i)
    std::fill_n(pattern.data() + (head * length + i) * length + i + 1, length - i - 1, Real{0});
}

/// The gradients of queries and keys (B, T, H*D) with D = 4, by definition.
std::pair<Tensor, Tensor> score_gradients(const Tensor& dpattern, const Tensor& pattern, const Tensor& q,
                                          const Tensor& k) {
  const Index heads = pattern.shape()[1];
  const Index length = pattern.shape()[2];
  Tensor dq(q.shape()), dk(k.shape());
  for (Index b = 0; b < q.shape()[0]; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < length; ++i) {
        Real along = 0;
        for (Index j = 0; j < length; ++j) along += pattern(b, h, i, j) * dpattern(b, h, i, j);
        for (Index j = 0; j < length; ++j) {
          const Real dscore = pattern(b, h, i, j) * (dpattern(b, h, i, j) - along) / 2;  // 2 is the root of D
          for (Index d = 4 * h; d < 4 * h + 4; ++d) {
            dq(b, i, d) += dscore * k(b, j, d);
            dk(b, j, d) += dscore * q(b, i, d);
          }
        }
      }
  return {dq, dk};
}

/// Leaves NaN in blocks of this size that wait to be handed out.
void spoil_memory(Index count) {
  std::vector<Buffer> blocks;
  for (int i = 0; i < 3; ++i) {
    blocks.push_back(allocate(count));
    std::fill_n(blocks.back().get(), count, std::numeric_limits<Real>::quiet_NaN());
  }
}

/// The largest weight and the entropy of every row of 16 random keys of width 128.
struct Sharpness {
  double median_largest;
  double mean_entropy;
};

Sharpness sharpness_of(double scale) {
  const Index batch = 313;
  const Tensor pattern =
      pattern_of(random_tensor({batch, 16, 128}, 1, scale), random_tensor({batch, 16, 128}, 2), 1, kNoMask);
  std::vector<double> largest;
  double entropy = 0;
  for (Index row = 0; row < batch * 16; ++row) {
    const std::span<const Real> p = pattern.values().subspan(static_cast<std::size_t>(row * 16), 16);
    largest.push_back(static_cast<double>(*std::max_element(p.begin(), p.end())));
    for (const Real weight : p)
      if (weight > 0) entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
  }
  std::nth_element(largest.begin(), largest.begin() + batch * 8, largest.end());
  return {largest[static_cast<std::size_t>(batch * 8)], entropy / static_cast<double>(batch * 16)};
}

}  // namespace

TEST_CASE("the attention pattern is its definition in elementary ops, forward and backward") {
  for (const Index length : {1, 3, 17, 63, 65})
    for (const Index head_width : {1, 3, 17, 63, 65})
      for (const bool causal : {true, false}) {
        const Index heads = length == 17 ? 3 : 1;
        CAPTURE(length);
        CAPTURE(heads);
        CAPTURE(head_width);
        CAPTURE(causal);
        // The second sequence has pads at its start and within; the third is nothing else.
        AttentionMask mask{.causal = causal, .visible = Mask(3, length, 1)};
        mask.visible(1, 0) = 0;
        mask.visible(1, length / 2) = 0;
        for (Index t = 0; t < length; ++t) mask.visible(2, t) = 0;
        testing::check_same([&](const Inputs& in) { return attention_pattern(in[0], in[1], heads, mask); },
                            [&](const Inputs& in) { return pattern_definition(in[0], in[1], heads, mask); },
                            {random_tensor({3, length, heads * head_width}, 1),
                             random_tensor({3, length, heads * head_width}, 2)});
      }
}

TEST_CASE("the attention mix is its definition in elementary ops, forward and backward") {
  for (const Index length : {1, 3, 17, 63, 65})
    for (const Index head_width : {1, 3, 17, 63, 65}) {
      const Index heads = length == 17 ? 3 : 1;
      CAPTURE(length);
      CAPTURE(heads);
      CAPTURE(head_width);
      testing::check_same(
          [](const Inputs& in) { return attention_mix(in[0], in[1]); },
          [](const Inputs& in) { return mix_definition(in[0], in[1]); },
          {random_tensor({2, heads, length, length}, 1), random_tensor({2, length, heads * head_width}, 2)});
    }
}

TEST_CASE("heads that look ahead and heads that do not are mixed rightly in one call, forward and backward") {
  for (const Index length : {3, 17, 65})
    for (const Index first : {0, 1}) {
      CAPTURE(length);
      CAPTURE(first);
      Tensor pattern = random_tensor({2, 3, length, length}, 1);
      for (Index head = first; head < 6; head += 2) hide_ahead(pattern, head);
      testing::check_same([](const Inputs& in) { return attention_mix(in[0], in[1]); },
                          [](const Inputs& in) { return mix_definition(in[0], in[1]); },
                          {pattern, random_tensor({2, length, 15}, 2)});
    }
}

TEST_CASE(
    "a single weight ahead, wherever it lies, makes a head look ahead, is mixed in and has its gradient") {
  const Index length = 35;
  const kernels::AttentionSizes sizes{1, length, 1, 1};
  const Tensor values = random_tensor({1, length, 1}, 1);
  const Tensor dz = random_tensor({1, length, 1}, 2);
  Index wrong = 0;
  for (Index i = 0; i < length; ++i)
    for (Index j = i + 1; j < length; ++j) {
      Tensor pattern(Shape{1, 1, length, length});
      pattern(0, 0, i, j) = -2;
      const std::vector<bool> causal = kernels::causal_heads(pattern.data(), sizes);
      wrong += causal[0] ? 1 : 0;
      Tensor z(values.shape()), dvalues(values.shape());
      kernels::attention_mix_forward(z.data(), pattern.data(), values.data(), causal, sizes);
      kernels::attention_mix_backward(nullptr, dvalues.data(), dz.data(), pattern.data(), values.data(),
                                      causal, sizes);
      for (Index t = 0; t < length; ++t) {
        wrong += z(0, t, 0) == (t == i ? -2 * values(0, j, 0) : 0) ? 0 : 1;
        wrong += dvalues(0, t, 0) == (t == j ? -2 * dz(0, i, 0) : 0) ? 0 : 1;
      }
    }
  CHECK(wrong == 0);
}

TEST_CASE(
    "each head of each sequence is told apart by whether it looks ahead, at the smallest weight or a NaN") {
  for (const Index length : {1, 2, 16, 17, 65})
    for (const Real weight : {std::numeric_limits<Real>::denorm_min(), std::numeric_limits<Real>::quiet_NaN(),
                              -std::numeric_limits<Real>::infinity()}) {
      CAPTURE(length);
      CAPTURE(weight);
      Tensor pattern = random_tensor({2, 3, length, length}, 1);
      for (Index head = 0; head < 6; ++head) hide_ahead(pattern, head);
      const kernels::AttentionSizes sizes{2, length, 3, 1};
      CHECK(kernels::causal_heads(pattern.data(), sizes) == std::vector<bool>(6, true));
      if (length == 1) continue;
      pattern(0, 1, 0, length - 1) = weight;
      pattern(1, 2, length - 2, length - 1) = weight;
      pattern(1, 0, length - 2, length - 1) = Real(-0.0);
      CHECK(kernels::causal_heads(pattern.data(), sizes) ==
            std::vector<bool>{true, false, true, true, true, false});
    }
}

TEST_CASE("the gradient of scores is that of its softmax, whatever lay in the memory it works in") {
  for (const Index length : {1, 3, 17, 30, 65})
    for (const bool causal : {true, false}) {
      CAPTURE(length);
      CAPTURE(causal);
      Tensor pattern = random_tensor({2, 3, length, length}, 1, 1.0 / static_cast<double>(length));
      // Without the mask a head may still happen to look back alone.
      for (Index head = 0; head < 6; ++head)
        if (causal || head % 2 == 1) hide_ahead(pattern, head);
      const Tensor dpattern = random_tensor(pattern.shape(), 2);
      const Tensor q = random_tensor({2, length, 12}, 3);
      const Tensor k = random_tensor({2, length, 12}, 4);
      spoil_memory(length * length);
      Tensor dq(q.shape()), dk(k.shape());
      kernels::attention_pattern_backward(dq.data(), dk.data(), dpattern.data(), pattern.data(), q.data(),
                                          k.data(), Real(0.5), causal, {2, length, 3, 4});
      const auto [expected_dq, expected_dk] = score_gradients(dpattern, pattern, q, k);
      check_close(dq, expected_dq);
      check_close(dk, expected_dk);
    }
}

TEST_CASE("outputs stay within the values their query may see") {
  const Tensor values = random_tensor({1, 17, 3}, 3);
  const Tensor outputs =
      mix_of(pattern_of(random_tensor({1, 17, 3}, 1, 2), random_tensor({1, 17, 3}, 2)), values);
  for (Index d = 0; d < 3; ++d) {
    double low = static_cast<double>(values(0, 0, d));
    double high = low;
    for (Index t = 0; t < 17; ++t) {
      low = std::min(low, static_cast<double>(values(0, t, d)));
      high = std::max(high, static_cast<double>(values(0, t, d)));
      CHECK(static_cast<double>(outputs(0, t, d)) >= low - testing::kRounding);
      CHECK(static_cast<double>(outputs(0, t, d)) <= high + testing::kRounding);
    }
  }
}

TEST_CASE("scores are divided by the root of the head width") {
  // Width 8, two heads: the second one's queries and keys are 0.
  const Tensor q({1, 2, 8}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, -1, 0, 0, 0, 0});
  const Tensor k({1, 2, 8}, {2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0});
  check_close(pattern_of(q, k, 2), {1, 2, 2, 2}, {1, 0, 0.817574476194, 0.182425523806, 1, 0, 0.5, 0.5});
}

TEST_CASE("the spread of scores is the same for every head width") {
  // The log odds of two keys are the difference of two scores of variance 1, whatever D is.
  for (const Index width : {2, 4, 64, 768}) {
    CAPTURE(width);
    const Index batch = 2000;
    const Tensor p =
        pattern_of(random_tensor({batch, 2, width}, 1), random_tensor({batch, 2, width}, 2), 1, kNoMask);
    double squares = 0;
    for (Index row = 0; row < 2 * batch; ++row) {
      const Real* weights = p.data() + 2 * row;
      squares += std::pow(std::log(static_cast<double>(weights[1]) / static_cast<double>(weights[0])), 2);
    }
    // Four standard errors of a spread measured on 4,000 draws, with room for their heavier tails at D = 2.
    CHECK(std::sqrt(squares / static_cast<double>(4 * batch)) == doctest::Approx(1).epsilon(0.08));
  }
}

TEST_CASE("without the scale, attention over 16 random keys of width 128 is nearly one-hot") {
  const Sharpness scaled = sharpness_of(1);
  CHECK(scaled.median_largest == doctest::Approx(0.224).epsilon(0.02));
  CHECK(scaled.mean_entropy == doctest::Approx(2.36).epsilon(0.01));
  const Sharpness unscaled = sharpness_of(std::sqrt(128.0));
  CHECK(unscaled.median_largest == doctest::Approx(0.978).epsilon(0.01));
  CHECK(unscaled.mean_entropy == doctest::Approx(0.28).epsilon(0.05));
}

TEST_CASE("the causal mask hides exactly the T(T - 1)/2 keys after each query") {
  const Index length = 17;
  const Tensor p = pattern_of(random_tensor({1, length, 3}, 1), random_tensor({1, length, 3}, 2));
  Index hidden = 0;
  for (Index i = 0; i < length; ++i) {
    double total = 0;
    for (Index j = 0; j < length; ++j) {
      if (j > i && p(0, 0, i, j) == 0) ++hidden;
      if (j <= i) CHECK(p(0, 0, i, j) > 0);
      total += static_cast<double>(p(0, 0, i, j));
    }
    CHECK(total == doctest::Approx(1));
  }
  CHECK(hidden == length * (length - 1) / 2);
}

TEST_CASE("a hidden key gets no gradient, and a query with one visible key none either") {
  Tape tape;
  const Variable q = tape.variable(random_tensor({1, 3, 2}, 1));
  const Variable k = tape.variable(random_tensor({1, 3, 2}, 2));
  tape.backward(testing::weighed(attention_pattern(q, k, 1, {.visible = Mask(1, 3, {1, 0, 1})})));
  const Tensor dq = q.gradient();
  const Tensor dk = k.gradient();
  for (Index d = 0; d < 2; ++d) {
    CHECK(dk(0, 1, d) == 0);
    CHECK(dk(0, 2, d) != 0);
    CHECK(dq(0, 1, d) == 0);
    CHECK(dq(0, 2, d) != 0);
  }
}

TEST_CASE("a hidden key changes no weight, whatever it holds") {
  const Tensor queries = random_tensor({1, 3, 2}, 1);
  Tensor keys = random_tensor({1, 3, 2}, 2);
  const AttentionMask mask{.visible = Mask(1, 3, {1, 0, 1})};
  const Tensor before = pattern_of(queries, keys, 1, mask);
  for (const Real value : {std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::quiet_NaN()}) {
    keys(0, 1, 0) = value;
    CHECK(testing::same_bits(pattern_of(queries, keys, 1, mask), before));
  }
}

TEST_CASE("a padding mask of lengths 5 and 3 hides the pads from every head and query") {
  const Mask visible(2, 5, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0});
  const Tensor q = random_tensor({2, 5, 8 * 32}, 1);
  const Tensor k = random_tensor({2, 5, 8 * 32}, 2);
  const Tensor p = pattern_of(q, k, 8, {.visible = visible});
  const Tensor causal = pattern_of(q, k, 8);
  for (Index h = 0; h < 8; ++h)
    for (Index i = 0; i < 5; ++i) {
      double total = 0;
      for (Index j = 0; j < 5; ++j) {
        CHECK(p(0, h, i, j) == causal(0, h, i, j));
        CHECK((p(1, h, i, j) > 0) == (j <= i && j < 3));
        total += static_cast<double>(p(1, h, i, j));
      }
      CHECK(total == doctest::Approx(1));
    }
}

TEST_CASE("a query that may see no key has weights 0 and passes no gradient, never NaN") {
  Tape tape;
  const Variable q = tape.variable(Tensor({2, 3, 1}, {1, 1, 1, 1, 1, 1}));
  const Variable k = tape.variable(Tensor({2, 3, 1}, {1, 2, 3, 1, 2, 3}));
  const Variable p = attention_pattern(q, k, 1, {.causal = false, .visible = Mask(2, 3, {1, 1, 0, 0, 0, 0})});
  for (Index i = 0; i < 3; ++i) {
    const std::span<const Real> row = p.value().values().subspan(static_cast<std::size_t>(3 * i), 3);
    check_close(Tensor({3}, row), {3}, {0.26894142137, 0.73105857863, 0});
    for (Index j = 0; j < 3; ++j) CHECK(p.value()(1, 0, i, j) == 0);
  }
  tape.backward(testing::weighed(p));
  for (Index i = 0; i < 3; ++i) {
    CHECK(q.gradient()(0, i, 0) != 0);
    CHECK(q.gradient()(1, i, 0) == 0);
    CHECK(k.gradient()(1, i, 0) == 0);
  }
}

TEST_CASE("left padding under the causal mask leaves the pads' own rows at 0 and the others whole") {
  const Tensor x = random_tensor({1, 4, 3}, 1);
  const Tensor p = pattern_of(x, x, 1, {.visible = Mask(1, 4, {0, 0, 1, 1})});
  for (Index i = 0; i < 4; ++i) {
    double total = 0;
    for (Index j = 0; j < 4; ++j) total += static_cast<double>(p(0, 0, i, j));
    CHECK(total == doctest::Approx(i < 2 ? 0 : 1));
  }
}

TEST_CASE("each head sees its own columns of queries and keys alone") {
  const Tensor q({1, 3, 4},
                 {Real(-0.129), Real(-0.323), Real(-0.782), Real(0.115), Real(0.545), Real(0.409),
                  Real(0.659), Real(-0.959), Real(0.156), Real(-0.503), Real(-0.200), Real(-0.204)});
  check_close(head_of(q, 0, 2), {1, 3, 2}, {-0.129, -0.323, 0.545, 0.409, 0.156, -0.503}, 1e-7);
  check_close(head_of(q, 1, 2), {1, 3, 2}, {-0.782, 0.115, 0.659, -0.959, -0.200, -0.204}, 1e-7);
  check_close(pattern_of(q, q, 2), {1, 2, 3, 3},
              {1, 0, 0, 0.384275277833, 0.615724722167, 0, 0.341246509229, 0.283326307678, 0.375427183093, 1,
               0, 0, 0.197851345433, 0.802148654567, 0, 0.342856772321, 0.326506180973, 0.330637046706});
}

TEST_CASE("the heads' outputs lie side by side in each position, never across positions") {
  // Head h of position t holds 100h + 10t + 1 and 100h + 10t + 2; both heads look at the position itself.
  Tensor values(Shape{1, 3, 4});
  Tensor identity(Shape{1, 2, 3, 3});
  for (Index t = 0; t < 3; ++t)
    for (Index h = 0; h < 2; ++h) {
      identity(0, h, t, t) = 1;
      for (Index d = 0; d < 2; ++d) values(0, t, 2 * h + d) = static_cast<Real>(100 * h + 10 * t + 1 + d);
    }
  check_close(mix_of(identity, values), {1, 3, 4}, {1, 2, 101, 102, 11, 12, 111, 112, 21, 22, 121, 122}, 0);
  // Head 1 looks at the first position instead: only its half moves.
  Tensor first = identity;
  for (Index t = 1; t < 3; ++t) {
    first(0, 1, t, t) = 0;
    first(0, 1, t, 0) = 1;
  }
  check_close(mix_of(first, values), {1, 3, 4}, {1, 2, 101, 102, 11, 12, 101, 102, 21, 22, 101, 102}, 0);
}

TEST_CASE(
    "the table of weights grows with the square of the length, to 6.3 million for a batch of GPT-2's size") {
  const auto count = [](Index length) {
    const Variable rows(Tensor(Shape{8, length, 768}));
    return attention_pattern(rows, rows, 12).shape().count();
  };
  CHECK(count(256) == 6'291'456);
  CHECK(count(64) * 16 == count(256));
}

TEST_CASE("the attention kernels never read their output, and add to gradients") {
  const kernels::AttentionSizes sizes{1, 2, 1, 1};
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Tensor q({2}, {0, 0});
  const Tensor v({2}, {2, 4});
  Tensor p({2, 2}, {nan, nan, nan, nan});
  Tensor z({2}, {nan, nan});
  kernels::attention_pattern_forward(p.data(), q.data(), q.data(), {}, {}, sizes);
  check_close(p, {2, 2}, {1, 0, 0.5, 0.5}, 0);
  kernels::attention_mix_forward(z.data(), p.data(), v.data(), {true}, sizes);
  check_close(z, {2}, {2, 3}, 0);

  const Tensor dz({2}, {1, 1});
  Tensor dp({2, 2}, {10, 10, 10, 10});
  Tensor dv({2}, {10, 10});
  kernels::attention_mix_backward(dp.data(), dv.data(), dz.data(), p.data(), v.data(), {true}, sizes);
  check_close(dp, {2, 2}, {12, 14, 12, 14}, 0);
  check_close(dv, {2}, {11.5, 10.5}, 0);

  const Tensor k({2}, {1, 3});
  Tensor dq({2}, {10, 10});
  Tensor dk({2}, {10, 10});
  kernels::attention_pattern_backward(dq.data(), dk.data(), dp.data(), p.data(), k.data(), k.data(), 1, true,
                                      sizes);
  check_close(dq, {2}, {10, 11}, 0);  // of the second row's scores: -0.5 and 0.5
  check_close(dk, {2}, {8.5, 11.5}, 0);
}

TEST_CASE("queries of the last positions alone have the rows they have among all") {
  constexpr Index kBatch = 2, kLength = 19, kHeads = 3, kWidth = 12;
  const Tensor q = random_tensor({kBatch, kLength, kWidth}, 1);
  const Tensor k = random_tensor({kBatch, kLength, kWidth}, 2);
  const Tensor v = random_tensor({kBatch, kLength, kWidth}, 3);
  Mask padding(kBatch, kLength, 1);
  padding(0, 0) = padding(0, 3) = padding(1, 17) = 0;
  for (const bool causal : {true, false})
    for (const Mask& visible : {Mask(), padding})
      for (const Index last : {Index{1}, Index{2}, Index{7}, Index{18}, kLength}) {
        CAPTURE(causal);
        CAPTURE(last);
        const AttentionMask mask{causal, visible};
        const Variable all = attention_pattern(Variable(q), Variable(k), kHeads, mask);
        const Tensor some_queries = slice(Variable(q), 1, kLength - last, kLength).value();
        const Variable some = attention_pattern(Variable(some_queries), Variable(k), kHeads, mask);
        check_close(some.value(), slice(all, 2, kLength - last, kLength).value());
        check_close(attention_mix(some, Variable(v)).value(),
                    slice(attention_mix(all, Variable(v)), 1, kLength - last, kLength).value());
      }
}

}  // namespace tapehead
