#include "tapehead/nn/attention.h"

#include <algorithm>
#include <cmath>

#include "support/modules.h"
#include "tapehead/autograd/attention.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/gradient_check.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Onlooker;
using testing::random_tensor;

/// An attention layer with parameters of its own.
struct Layer {
  Parameters parameters;
  CausalSelfAttention attention;

  explicit Layer(const AttentionConfig& config) : attention(Scope(parameters), config) {
    parameters.initialise(1);
  }
  void set(const char* name, std::initializer_list<Real> values) {
    const Parameter parameter = parameters.find(name);
    REQUIRE(static_cast<Index>(values.size()) == parameter.shape.count());
    std::copy(values.begin(), values.end(), parameters.change().begin() + parameter.offset);
  }
  Variable operator()(const Tensor& x, const AttentionMask& mask = {}) const {
    Pass pass;
    return attention(pass, Variable(x), 0, mask);
  }
  /// What an evaluation pass brings by each site.
  Onlooker watched(const Tensor& x) const {
    Onlooker onlooker;
    Pass pass = Pass().watched_by({onlooker});
    attention(pass, Variable(x));
    return onlooker;
  }
};

/// Width 4 and two heads: values are the input itself, and the output projection is the one of the example.
struct CopyingLayer : Layer {
  CopyingLayer() : Layer({.width = 4, .heads = 2, .context = 3}) {
    set("qkv.weight", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // queries
                       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // keys
                       1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
    // Head outputs times the rows (1, 0, 2, -1), (0, 1, 1, 0), (1, 1, 0, 2), (2, 0, -1, 1).
    set("output.weight", {1, 0, 1, 2, 0, 1, 1, 0, 2, 1, 0, -1, -1, 0, 2, 1});
    set("output.bias", {Real(0.1), Real(0.2), Real(0.3), Real(0.4)});
  }
};

const Tensor kOneToFour({1, 1, 4}, {1, 2, 3, 4});

}  // namespace

TEST_CASE("attention of GPT-2's size has 2,362,368 parameters, whatever its number of heads") {
  for (const Index heads : {1, 12, 768}) {
    Parameters parameters;
    CausalSelfAttention attention(Scope(parameters), {.width = 768, .heads = heads, .context = 1024});
    CHECK(testing::listing_of(parameters) ==
          "qkv.weight (2304, 768) 1769472\n"
          "qkv.bias (2304) 2304\n"
          "output.weight (768, 768) 589824\n"
          "output.bias (768) 768\n");
    const auto& entries = parameters.entries();
    CHECK(entries[0].count() + entries[1].count() == 1'771'776);
    CHECK(entries[2].count() + entries[3].count() == 590'592);
    CHECK(parameters.count() == 2'362'368);
  }
}

TEST_CASE("attention without biases has four square matrices, started by their inputs or as told") {
  Parameters parameters;
  const Scope scope(parameters);
  CausalSelfAttention plain(scope / "plain", {.width = 16, .heads = 4, .qkv_bias = false, .bias = false});
  CausalSelfAttention told(scope / "told", {.width = 16,
                                            .heads = 4,
                                            .qkv_bias = false,
                                            .bias = false,
                                            .qkv_deviation = 0.1,
                                            .output_deviation = 0.2});
  CHECK(parameters.count() == 2 * 4 * 16 * 16);
  CHECK(parameters.entries()[0].start.deviation == doctest::Approx(1 / 4.0));
  CHECK(parameters.entries()[1].start.deviation == doctest::Approx(1 / 2.0));
  CHECK(parameters.entries()[2].start.deviation == 0.1);
  CHECK(parameters.entries()[3].start.deviation == 0.2);
}

TEST_CASE("attention of GPT-2's size keeps the shape, and starts with nearly even weights") {
  Parameters parameters;
  const CausalSelfAttention attention(Scope(parameters),
                                      {.width = 768, .heads = 12, .context = 1024, .qkv_deviation = 0.02});
  parameters.initialise(1);
  Onlooker onlooker;
  Pass pass = Pass().watched_by({onlooker});
  CHECK(attention(pass, Variable(random_tensor({2, 6, 768}, 1))).shape() == Shape{2, 6, 768});
  const Tensor& weights = onlooker.seen_at(pattern(0));
  CHECK(weights.shape() == Shape{2, 12, 6, 6});
  for (Index k = 0; k < 6; ++k) {
    CHECK(weights(0, 0, 5, k) > Real(0.5 / 6));
    CHECK(weights(0, 0, 5, k) < Real(2.0 / 6));
  }
}

TEST_CASE("queries, keys and values are thirds of one projection, and each head owns a run of columns") {
  Layer layer({.width = 4, .heads = 2, .context = 3, .qkv_bias = false});
  Tensor x(Shape{1, 1, 4});
  x(0, 0, 0) = 1;
  for (Index row = 0; row < 12; ++row)
    layer.parameters.change()[static_cast<std::size_t>(4 * row)] = Real(row);
  const Onlooker onlooker = layer.watched(x);
  check_close(onlooker.seen_at(queries(0)), {1, 1, 4}, {0, 1, 2, 3}, 0);
  check_close(onlooker.seen_at(keys(0)), {1, 1, 4}, {4, 5, 6, 7}, 0);
  check_close(onlooker.seen_at(values(0)), {1, 1, 4}, {8, 9, 10, 11}, 0);
  const Tensor head_1 =
      attention_mix(Variable(Tensor({1, 2, 1, 1}, {0, 1})), Variable(onlooker.seen_at(values(0)))).value();
  check_close(head_1, {1, 1, 4}, {0, 0, 10, 11}, 0);
}

TEST_CASE("the layer gives the worked outputs of three words") {
  Layer layer({.width = 4, .heads = 1, .context = 3, .qkv_bias = false, .bias = false});
  // Width 4 holds the two numbers of each role and two zeros. Queries are scaled for a head of width 2.
  const Real s = std::sqrt(Real(2));
  layer.set("qkv.weight", {s, 0, 0, 0, 0, s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                           0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,  //
                           1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  layer.set("output.weight", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  const Tensor words({1, 3, 4}, {1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1});
  check_close(layer(words).value(), {1, 3, 4},
              {1, 0, 0, 0, 0.669761549327, 0.330238450673, 0, 0, 0.40111209268, 0.19777581464, 0, 0});
}

TEST_CASE("the heads' parts and the bias add up to the layer's output") {
  const CopyingLayer layer;
  const auto without = [&](Index head) {
    Onlooker edit([head](const Visit& at, const Variable& value) {
      return at.site == head_output(0) ? testing::without_head(value, head, 2) : value;
    });
    Pass pass = Pass().watched_by({edit});
    return layer.attention(pass, Variable(kOneToFour)).value();
  };
  check_close(layer(kOneToFour).value(), {1, 1, 4}, {12.1, 5.2, 0.3, 9.4}, 1e-6);
  check_close(without(0), {1, 1, 4}, {11.1, 3.2, -3.7, 10.4}, 1e-6);
  check_close(without(1), {1, 1, 4}, {1.1, 2.2, 4.3, -0.6}, 1e-6);
}

TEST_CASE("each head writes through its own columns of the output projection") {
  Layer layer({.width = 6, .heads = 3, .context = 5});
  testing::shake(layer.parameters);
  const Onlooker onlooker = layer.watched(random_tensor({2, 5, 6}, 1));
  const Variable z(onlooker.seen_at(head_output(0)));
  const Variable weight = constant(layer.parameters.find("output.weight"));
  Variable total = constant(layer.parameters.find("output.bias"));
  for (Index h = 0; h < 3; ++h)
    total =
        total + matmul(slice(z, -1, 2 * h, 2 * h + 2), transpose(slice(weight, 1, 2 * h, 2 * h + 2), 0, 1));
  check_close(onlooker.seen_at(attention_output(0)), total.value());
}

TEST_CASE("changing the last of three vectors moves its own output alone, and all of them without the mask") {
  const Layer layer({.width = 4, .heads = 1, .context = 8});
  const Tensor x = random_tensor({1, 3, 4}, 1);
  Tensor changed = x;
  for (Index d = 0; d < 4; ++d) changed(0, 2, d) += 1;
  const auto moved = [&](Index t, const AttentionMask& mask) {
    const auto row = [&](const Tensor& in) { return slice(layer(in, mask), 1, t, t + 1).value(); };
    return !testing::same_bits(row(x), row(changed));
  };
  for (Index t = 0; t < 3; ++t) {
    CHECK(moved(t, {}) == (t == 2));
    CHECK(moved(t, {.causal = false, .visible = {}}));
  }
}

TEST_CASE("a layer without a mask gives reversed rows their own outputs, reversed") {
  const Layer layer({.width = 4, .heads = 2, .context = 8});
  const AttentionMask no_mask{.causal = false, .visible = {}};
  const Tensor x = random_tensor({1, 3, 4}, 1);
  const auto reversed = [](const Tensor& rows) {
    Tensor result(rows.shape());
    for (Index t = 0; t < 3; ++t)
      for (Index d = 0; d < 4; ++d) result(0, t, d) = rows(0, 2 - t, d);
    return result;
  };
  check_close(layer(reversed(x), no_mask).value(), reversed(layer(x, no_mask).value()));
}

TEST_CASE("the pattern that is seen is the one before dropout, and the mix uses the one after") {
  Layer layer({.width = 4, .heads = 2, .context = 9, .dropout = 0.5});
  const Tensor x = random_tensor({2, 9, 4}, 1);
  Onlooker onlooker;
  Tape tape;
  const Generator stream(3, Purpose::dropout);
  Pass pass = Pass(tape, stream).watched_by({onlooker});
  layer.attention(pass, Variable(x));
  const Tensor& weights = onlooker.seen_at(pattern(0));
  CHECK(testing::same_bits(weights, layer.watched(x).seen_at(pattern(0))));
  for (Index row = 0; row < weights.shape().rows(); ++row) {
    double total = 0;
    for (Index k = 0; k < 9; ++k) total += static_cast<double>(weights.data()[9 * row + k]);
    CHECK(total == doctest::Approx(1));
  }
  Generator again = stream;
  const Variable dropped = dropout(Variable(weights), 0.5, again);
  CHECK(testing::same_bits(onlooker.seen_at(head_output(0)),
                           attention_mix(dropped, Variable(onlooker.seen_at(values(0)))).value()));
  CHECK(!testing::same_bits(onlooker.seen_at(head_output(0)), layer.watched(x).seen_at(head_output(0))));
}

TEST_CASE("attention comes by its six sites in order, under the layer's name") {
  Onlooker onlooker;
  Pass pass = Pass().watched_by({onlooker});
  const Layer layer({.width = 4, .heads = 2, .context = 3});
  layer.attention(pass, Variable(random_tensor({1, 3, 4}, 1)), 5);
  CHECK(onlooker.sites() ==
        std::vector<Site>{queries(5), keys(5), values(5), pattern(5), head_output(5), attention_output(5)});
}

TEST_CASE("attention refuses sizes that do not fit") {
  Parameters parameters;
  const Scope scope(parameters);
  CHECK_THROWS_WITH_AS(CausalSelfAttention(scope, {.width = 90, .heads = 4}),
                       "[attention] expected width to be divisible by heads, got width 90 and 4 heads",
                       Error);
  CHECK_THROWS_AS(CausalSelfAttention(scope, {.width = 4, .heads = 0}), Error);
  CHECK_THROWS_AS(CausalSelfAttention(scope, {.width = 4, .heads = 2, .context = 0}), Error);
  const Layer layer({.width = 4, .heads = 2, .context = 3});
  CHECK_NOTHROW(layer(Tensor(Shape{1, 3, 4})));
  CHECK_THROWS_WITH_AS(layer(Tensor(Shape{1, 4, 4})),
                       "[attention] 4 positions are more than the context of 3", Error);
  CHECK_THROWS_WITH_AS(layer(Tensor(Shape{1, 3, 5})), "[attention] expected x (B, T, 4), got (1, 3, 5)",
                       Error);
}

DOUBLE_TEST_CASE("attention passes the gradient check, with biases, padding and dropout or without") {
  const AttentionMask padded{.visible = Mask(2, 5, {0, 1, 1, 1, 0, 0, 0, 0, 0, 0})};
  for (const bool bias : {true, false})
    for (const AttentionMask& mask : {AttentionMask{}, padded}) {
      Layer layer({.width = 6, .heads = 3, .context = 5, .dropout = 0.3, .qkv_bias = bias, .bias = bias});
      testing::shake(layer.parameters);
      const Tensor x = random_tensor({2, 5, 6}, 1);
      CHECK(testing::module_error(
                layer.parameters,
                [&](Pass& pass, const Variable& in) { return layer.attention(pass, in, 0, mask); },
                x) < 1e-6);
      CHECK(gradient_check(layer.parameters, [&](Tape& tape) {
              Pass pass(tape, Generator(3, Purpose::dropout));
              return testing::weighed(layer.attention(pass, Variable(x), 0, mask));
            }) < 1e-6);
    }
}

}  // namespace tapehead
