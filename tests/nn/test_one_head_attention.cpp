#include "tapehead/nn/one_head_attention.h"

#include <algorithm>
#include <deque>
#include <string>

#include "support/modules.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/gradient_check.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/attention.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::random_tensor;

/// One head with parameters of its own.
struct Head {
  Parameters parameters;
  OneHeadAttention attention;

  Head(Index inputs, Index head_width, bool qkv_bias = false)
      : attention(Scope(parameters), inputs, head_width, qkv_bias) {
    parameters.initialise(1);
  }
  void set(const char* name, std::initializer_list<Real> values) {
    const Parameter parameter = parameters.find(name);
    REQUIRE(static_cast<Index>(values.size()) == parameter.shape.count());
    std::copy(values.begin(), values.end(), parameters.change().begin() + parameter.offset);
  }
};

/// A layer of width 6 with three heads, biases and all, and its heads and output projection taken apart: for
/// each head the rows of the fused matrix that are its own.
class Apart {
 public:
  static constexpr Index kWidth = 6;
  static constexpr Index kHeads = 3;
  static constexpr Index kHeadWidth = 2;

  Apart() : fused_(Scope(parameters_), {.width = kWidth, .heads = kHeads, .context = 5}) {
    parameters_.initialise(1);
    testing::shake(parameters_);
    for (Index h = 0; h < kHeads; ++h) {
      Head& head = heads_.emplace_back(kWidth, kHeadWidth, true);
      for (Index role = 0; role < 3; ++role) {
        copy(head, role, ".weight", "qkv.weight", h);
        copy(head, role, ".bias", "qkv.bias", h);
      }
    }
  }

  Variable together(Pass& pass, const Variable& x) const { return fused_(pass, x); }

  /// The heads' outputs side by side, (B, T, C), then the output projection. `passes` has one for each head.
  Variable apart(std::span<Pass> passes, const Variable& x) const {
    Variable side_by_side;
    for (Index h = 0; h < kHeads; ++h) {
      const Variable z =
          heads_[static_cast<std::size_t>(h)].attention(passes[static_cast<std::size_t>(h)], x);
      const Variable placed = matmul(z, Variable(columns_of(h)));
      side_by_side = h == 0 ? placed : side_by_side + placed;
    }
    return linear(side_by_side, constant(parameters_.find("output.weight")),
                  constant(parameters_.find("output.bias")));
  }

  const Parameters& parameters() const { return parameters_; }
  const Head& head(Index h) const { return heads_[static_cast<std::size_t>(h)]; }
  static std::string name(Index role) {
    static const std::string names[]{"query", "key", "value"};
    return names[role];
  }
  /// The rows of the fused matrix, or of its bias, that are a head's queries, keys or values.
  static Index first_row(Index role, Index h) { return role * kWidth + h * kHeadWidth; }

 private:
  void copy(Head& head, Index role, const char* part, const char* fused_name, Index h) {
    const Parameter from = parameters_.find(fused_name).rows(first_row(role, h), kHeadWidth);
    const Parameter to = head.parameters.find(name(role) + part);
    REQUIRE(from.shape == to.shape);
    std::copy_n(from.data(), from.shape.count(), head.parameters.change().begin() + to.offset);
  }
  /// (D, C): ones that put a head's numbers into its own columns, exactly.
  static Tensor columns_of(Index h) {
    Tensor placed(Shape{kHeadWidth, kWidth});
    for (Index d = 0; d < kHeadWidth; ++d) placed(d, h * kHeadWidth + d) = 1;
    return placed;
  }

  Parameters parameters_;
  CausalSelfAttention fused_;
  std::deque<Head> heads_;  // which stay where they are
};

}  // namespace

TEST_CASE("one head has a matrix each for queries, keys and values, and biases if wanted") {
  CHECK(testing::listing_of(Head(4, 2).parameters) ==
        "query.weight (2, 4) 8\nkey.weight (2, 4) 8\nvalue.weight (2, 4) 8\n");
  CHECK(testing::listing_of(Head(4, 2, true).parameters) ==
        "query.weight (2, 4) 8\nquery.bias (2) 2\nkey.weight (2, 4) 8\nkey.bias (2) 2\n"
        "value.weight (2, 4) 8\nvalue.bias (2) 2\n");
}

TEST_CASE("one head gives the worked outputs of the three words, with the mask and without") {
  Head head(4, 2);
  head.set("query.weight", {1, 0, 0, 0, 0, 1, 0, 0});
  head.set("key.weight", {0, 0, 1, 0, 0, 0, 0, 1});
  head.set("value.weight", {1, 0, 0, 0, 0, 0, 1, 0});
  const Variable words(Tensor({1, 3, 4}, {1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1}));
  check_close(head.attention(Pass(), words).value(), {1, 3, 2},
              {1, 0, 0.669761549327, 0.330238450673, 0.40111209268, 0.19777581464});
  // Scores 0, 1, 0 and 1, 0, 1 over sqrt(2): without the mask the second row is the third.
  check_close(head.attention(Pass(), words, {.causal = false, .visible = {}}).value(), {1, 3, 2},
              {0.248255078, 0.503489844, 0.40111209268, 0.19777581464, 0.40111209268, 0.19777581464}, 1e-6);
}

TEST_CASE("heads with the rows of the fused matrix, side by side, then projected, are the layer") {
  const Apart layer;
  const Variable x(random_tensor({2, 5, 6}, 1));
  Pass pass;
  std::array<Pass, Apart::kHeads> passes;
  check_close(layer.apart(passes, x).value(), layer.together(pass, x).value());
}

TEST_CASE("separate matrices get the gradients of their rows of the fused one") {
  const Apart layer;
  const Variable x(random_tensor({2, 5, 6}, 1));
  Tape fused_tape;
  Pass fused_pass(fused_tape);
  const Gradients fused = fused_tape.backward(testing::weighed(layer.together(fused_pass, x)));
  for (Index h = 0; h < Apart::kHeads; ++h) {
    Tape tape;
    std::array<Pass, Apart::kHeads> passes;
    passes[static_cast<std::size_t>(h)] = Pass(tape);
    const Gradients own = tape.backward(testing::weighed(layer.apart(passes, x)));
    for (Index role = 0; role < 3; ++role)
      for (const std::string part : {".weight", ".bias"}) {
        const Parameter mine = layer.head(h).parameters.find(Apart::name(role) + part);
        const Parameter rows = layer.parameters().find("qkv" + part).rows(Apart::first_row(role, h), 2);
        const auto window = [](const Gradients& all, const Parameter& at) {
          return Tensor(at.shape, all.values().subspan(static_cast<std::size_t>(at.offset),
                                                       static_cast<std::size_t>(at.shape.count())));
        };
        check_close(window(own, mine), window(fused, rows));
      }
  }
}

TEST_CASE("one head refuses sizes that do not fit") {
  Parameters parameters;
  CHECK_THROWS_WITH_AS(OneHeadAttention(Scope(parameters), 4, 0),
                       "[attention] expected widths of at least 1, got 4 inputs and a head of 0", Error);
  CHECK_THROWS_AS(OneHeadAttention(Scope(parameters), 0, 2), Error);
  const Head head(4, 2);
  CHECK_THROWS_AS(head.attention(Pass(), Variable(Tensor(Shape{1, 3, 5}))), Error);
  CHECK_THROWS_WITH_AS(head.attention(Pass(), Variable(Tensor(Shape{3, 4}))),
                       "[attention] expected x (B, T, inputs), got (3, 4)", Error);
}

DOUBLE_TEST_CASE("one head passes the gradient check, with biases and padding or without") {
  const AttentionMask padded{.visible = Mask(2, 5, {0, 1, 1, 1, 0, 0, 0, 0, 0, 0})};
  for (const bool bias : {true, false})
    for (const AttentionMask& mask : {AttentionMask{}, padded}) {
      Head head(6, 3, bias);
      testing::shake(head.parameters);
      CHECK(testing::module_error(
                head.parameters, [&](Pass& pass, const Variable& x) { return head.attention(pass, x, mask); },
                random_tensor({2, 5, 6}, 1)) < 1e-6);
    }
}

}  // namespace tapehead
