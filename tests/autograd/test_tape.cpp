#include "tapehead/autograd/tape.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "support/ops.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/base/require.h"
#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

Variable number_on(Tape& tape, Real value) { return tape.variable(Tensor({}, {value})); }

/// x itself; calls `visit` on the way back.
Variable passed(const Variable& x, std::function<void()> visit) {
  Variable y = Variable::result("passed", x.shape(), {&x});
  std::copy_n(x.data(), x.shape().count(), y.output());
  record("passed", y, [x, y, visit = std::move(visit)] {
    visit();
    for (Index i = 0; i < x.shape().count(); ++i) x.gradient_sum()[i] += y.upstream()[i];
  });
  return y;
}

/// A tiny model: one weight matrix and one bias.
struct Model {
  Parameters parameters;
  Parameter weight = parameters.add("weight", {2, 3}, Start::normal(1));
  Parameter bias = parameters.add("bias", {2}, Start::constant(0));

  Model() { parameters.initialise(1); }
  Variable loss(Tape& tape, const Tensor& x) const {
    const Variable y = linear(Variable(x), tape.parameter(weight), tape.parameter(bias));
    return mean(y * y);
  }
};

/// Two numbers, and a table of six rows of two, which lie at 2, ..., 13 of 16.
struct Rows {
  Parameters parameters;
  Parameter before = parameters.add("before", {2}, Start::normal(1));
  Parameter table = parameters.add("table", {6, 2}, Start::normal(1));
  Parameter after = parameters.add("after", {2}, Start::normal(1));

  Rows() { parameters.initialise(1); }
};

/// Leaves NaN in blocks of this size that wait to be handed out.
void spoil_memory(Index count) {
  std::vector<Buffer> blocks;
  for (int i = 0; i < 20; ++i) {
    blocks.push_back(allocate(count));
    std::fill_n(blocks.back().get(), count, std::numeric_limits<Real>::quiet_NaN());
  }
}

}  // namespace

TEST_CASE("backward gives every parameter's gradient in the parameters' own layout") {
  const Model model;
  Tape tape;
  const Variable y =
      linear(Variable(Tensor({3}, {1, 2, 3})), tape.parameter(model.weight), tape.parameter(model.bias));
  const Gradients gradients = tape.backward(sum(y * Variable(Tensor({2}, {1, 10}))));
  check_close(gradients, {8}, {1, 2, 3, 10, 20, 30, 1, 10}, 0);
}

TEST_CASE("a parameter that is asked for several times, or in part, gathers all its gradients") {
  const Model model;
  Tape tape;
  const Variable whole = tape.parameter(model.weight);
  const Variable row = tape.parameter(model.weight.rows(1, 1));
  const Gradients gradients =
      tape.backward(sum(whole) + sum(tape.parameter(model.weight)) + scale(sum(row), 5));
  check_close(gradients, {8}, {2, 2, 2, 7, 7, 7, 0, 0}, 0);
}

TEST_CASE("windows onto other rows of a parameter each put their gradient where they lie") {
  const Rows rows;
  spoil_memory(rows.parameters.count());
  Tape tape;
  const Variable last = tape.parameter(rows.table.rows(5, 1));
  const Variable first = tape.parameter(rows.table.rows(1, 2));
  const Gradients gradients = tape.backward(scale(sum(last), 3) + sum(first * first));
  Tensor expected(Shape{16});
  for (Index i = 4; i < 8; ++i) expected(i) = 2 * rows.parameters.data()[i];
  for (const Index i : {12, 13}) expected(i) = 3;
  check_close(gradients, expected);
}

TEST_CASE("windows that overlap add where they do, in whatever order they are made and used") {
  const Rows rows;
  struct Window {
    Index first, count;
    Real factor;
  };
  std::vector<Window> windows{{0, 3, 1}, {2, 3, 10}, {4, 1, 100}, {0, 6, 1000}};
  std::vector<std::size_t> order{0, 1, 2, 3};
  do {
    CAPTURE(order);
    for (unsigned made = 0; made < 16; ++made)
      for (unsigned used = 0; used < 16; ++used) {
        if ((used & ~made) != 0) continue;
        CAPTURE(made);
        CAPTURE(used);
        spoil_memory(rows.parameters.count());
        Tape tape;
        std::vector<Variable> variables(4);
        for (const std::size_t i : order)
          if ((made >> i & 1) != 0)
            variables[i] = tape.parameter(rows.table.rows(windows[i].first, windows[i].count));
        Tensor expected(Shape{made == 0 ? 0 : 16});
        Variable loss = number_on(tape, 1);
        for (std::size_t i = 0; i < 4; ++i) {
          if ((used >> i & 1) == 0) continue;
          loss = loss + scale(sum(variables[i]), windows[i].factor);
          for (Index j = 0; j < 2 * windows[i].count; ++j)
            expected(2 + 2 * windows[i].first + j) += windows[i].factor;
        }
        check_close(tape.backward(loss), expected, 0);
      }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE(
    "parameters and rows that the loss does not depend on have gradient 0, whatever lay in that memory") {
  const Rows rows;
  const Tensor zeros(Shape{16});
  for (const bool is_used : {false, true}) {
    CAPTURE(is_used);
    spoil_memory(rows.parameters.count());
    Tape tape;
    Variable loss = number_on(tape, 1);
    // Recorded on a way that does not lead to the loss.
    const Variable beside = sum(tape.parameter(rows.table));
    const Variable row = tape.parameter(rows.table.rows(3, 1));
    const Variable none = tape.parameter(rows.table.rows(6, 0));
    Tensor expected = zeros;
    if (is_used) {
      loss = loss + sum(row) + sum(none);
      for (const Index i : {8, 9}) expected(i) = 1;
    }
    check_close(tape.backward(loss), expected, 0);
  }
}

TEST_CASE("one window that two ops use has both gradients, and the same window asked for again is the same") {
  const Rows rows;
  spoil_memory(rows.parameters.count());
  Tape tape;
  const Variable once = tape.parameter(rows.table.rows(1, 2));
  const Variable again = tape.parameter(rows.table.rows(1, 2));
  CHECK(once.data() == again.data());
  const Gradients gradients = tape.backward(sum(scale(once, 2)) + sum(exp(again)));
  Tensor expected(Shape{16});
  for (Index i = 4; i < 8; ++i) expected(i) = 2 + std::exp(rows.parameters.data()[i]);
  check_close(gradients, expected);
}

TEST_CASE("a parameter that is the loss itself has gradient 1") {
  Parameters parameters;
  parameters.add("before", {3}, Start::constant(1));
  const Parameter single = parameters.add("single", {}, Start::constant(5));
  parameters.initialise(1);
  spoil_memory(parameters.count());
  Tape tape;
  check_close(tape.backward(tape.parameter(single)), {4}, {0, 0, 0, 1}, 0);
}

TEST_CASE("a tape without parameters gives no gradients of parameters") {
  Tape tape;
  CHECK(tape.backward(number_on(tape, 3)).count() == 0);
}

TEST_CASE("the derivative of a value by itself is 1") {
  Tape tape;
  const Variable x = number_on(tape, 3);
  tape.backward(x);
  CHECK(x.gradient()() == 1);
}

TEST_CASE("values in between have gradients too, and a value beside the path gets 0") {
  Tape tape;
  const Variable x = number_on(tape, 3);
  const Variable beside = number_on(tape, 4);
  const Variable square = x * x;
  const Variable unused = exp(beside);
  tape.backward(scale(square, 5));
  CHECK(x.gradient()() == 30);
  CHECK(square.gradient()() == 5);
  CHECK(beside.gradient()() == 0);
  CHECK(unused.gradient()() == 0);
}

TEST_CASE("a tape is empty after backward, and a second backward is refused") {
  Tape tape;
  const Variable a = number_on(tape, 2);
  const Variable b = number_on(tape, -3);
  const Variable d = a * b + a;
  CHECK(tape.size() == 2);
  tape.backward(d);
  CHECK(tape.size() == 0);
  CHECK_THROWS_WITH_AS(tape.backward(d), "[backward] this tape has already run backward", Error);
  CHECK(a.gradient()() == -2);
  CHECK(b.gradient()() == 2);
}

TEST_CASE("what a tape held can be read after backward, and no longer used") {
  Tape tape;
  const Variable x = number_on(tape, 2);
  const Variable y = x * x;
  tape.backward(y);
  CHECK(y.item() == 4);
  CHECK_THROWS_WITH_AS(
      exp(y),
      "[exp] an input comes from a tape that has already run backward; take its value() as a constant",
      Error);
  CHECK_THROWS_AS(x + Variable(Tensor({}, {1})), Error);
  CHECK(exp(Variable(y.value())).item() == doctest::Approx(std::exp(4.0)));
}

TEST_CASE("a tape that has run records a new pass, with gradients of its own") {
  const Model model;
  const Tensor x = random_tensor({4, 3}, 2);
  Tape tape;
  const Gradients first = tape.backward(model.loss(tape, x));
  const Gradients second = tape.backward(model.loss(tape, x));
  CHECK(testing::same_bits(first, second));
}

TEST_CASE("a loss that is no single number of this tape is refused") {
  Tape tape;
  Tape other;
  const Variable x = tape.variable(Tensor({2}, {1, 2}));
  const Variable elsewhere = number_on(other, 1);
  CHECK_THROWS_WITH_AS(tape.backward(x), "[backward] expected a loss with one element, got shape (2)", Error);
  CHECK_THROWS_WITH_AS(tape.backward(Variable()),
                       "[backward] expected a loss with one element, got shape of nothing", Error);
  CHECK_THROWS_WITH_AS(tape.backward(Variable(Tensor({}, {1}))),
                       "[backward] the loss is not on this tape: no recorded variable leads to it", Error);
  CHECK_THROWS_AS(tape.backward(elsewhere), Error);
  CHECK(tape.backward(sum(x)).count() == 0);
  check_close(x.gradient(), {2}, {1, 1}, 0);
}

TEST_CASE("an op whose inputs are on two tapes is refused") {
  Tape tape;
  Tape other;
  CHECK_THROWS_WITH_AS(number_on(tape, 1) + number_on(other, 1), "[add] the inputs come from two tapes",
                       Error);
}

TEST_CASE("one tape takes the parameters of one model") {
  const Model model;
  const Model other;
  Tape tape;
  tape.parameter(model.weight);
  CHECK_THROWS_WITH_AS(tape.parameter(other.weight),
                       "[tape] one tape goes through the parameters of one model only", Error);
}

TEST_CASE("parameters that were changed since the forward pass make backward refuse") {
  Model model;
  const Tensor x = random_tensor({4, 3}, 2);
  Tape tape;
  const Variable loss = model.loss(tape, x);
  model.parameters.change()[0] += 1;
  CHECK_THROWS_WITH_AS(tape.backward(loss),
                       "[backward] the parameters were changed since the forward pass used them", Error);
  Tape fresh;
  CHECK_NOTHROW(fresh.backward(model.loss(fresh, x)));
}

TEST_CASE("an array that is changed after it was given to a tape changes nothing on it") {
  Tape tape;
  Tensor x({1, 2}, {1, 2});
  const Variable recorded = tape.variable(x);
  const Variable weight = tape.variable(Tensor({2, 1}, {3, 4}));
  const Variable y = matmul(recorded, weight);
  for (Real& value : x.values()) value *= 10;
  tape.backward(y);
  CHECK(y.item() == 11);
  check_close(weight.gradient(), {2, 1}, {1, 2}, 0);
}

TEST_CASE("several tapes go through the same parameters, each with its own gradients") {
  const Model model;
  const Tensor x = random_tensor({4, 3}, 2);
  Tape alone;
  const Gradients expected = alone.backward(model.loss(alone, x));
  Tape first;
  Tape second;
  const Variable loss = model.loss(first, x);
  const Variable other_loss = model.loss(second, random_tensor({4, 3}, 3));
  second.backward(other_loss);
  CHECK(testing::same_bits(first.backward(loss), expected));
}

TEST_CASE("a step that throws leaves an empty tape, no gradient, and a tape that works") {
  Tape tape;
  const Variable x = number_on(tape, 2);
  const Variable y = passed(exp(x), [] { throw std::runtime_error("broken"); });
  CHECK_THROWS_WITH_AS(tape.backward(y * y), "broken", std::runtime_error);
  CHECK(tape.size() == 0);
  CHECK_THROWS_AS(x.gradient(), Error);
  const Variable z = number_on(tape, 2);
  tape.backward(z * z);
  CHECK(z.gradient()() == 4);
}

TEST_CASE("a variable outlives its tape, and then has no gradient") {
  Variable x;
  {
    Tape tape;
    x = number_on(tape, 2) * number_on(tape, 3);
  }
  CHECK(x.item() == 6);
  CHECK_THROWS_AS(x.gradient(), Error);
  CHECK_THROWS_AS(exp(x), Error);
}

TEST_CASE("backward frees each activation as soon as it has gone back through it") {
  constexpr int kDepth = 40;
  const Index before = memory_use().now;
  Index at_the_first = 0;
  Tape tape;
  Variable y = passed(tape.variable(Tensor(Shape{10000})), [&] { at_the_first = memory_use().now - before; });
  for (int i = 0; i < kDepth; ++i) y = tanh(y);
  y = sum(y);
  const Index forward = memory_use().now - before;
  reset_peak_memory();
  tape.backward(y);
  const Index array = forward / kDepth;
  CHECK(at_the_first < 6 * array);
  CHECK(memory_use().peak - before < forward + 6 * array);
}

TEST_CASE("a thousand steps hold no more memory than ten") {
  Model model;
  const Tensor x = random_tensor({4, 3}, 2);
  double total = 0;
  Index after_ten = 0;
  for (int step = 1; step <= 1000; ++step) {
    Tape tape;
    const Variable loss = model.loss(tape, x);
    total += static_cast<double>(loss.item());
    const Gradients gradients = tape.backward(loss);
    for (Index i = 0; i < gradients.count(); ++i)
      model.parameters.change()[static_cast<std::size_t>(i)] -= Real(0.01) * gradients.data()[i];
    if (step == 10) after_ten = memory_use().now;
    if (step == 1000) CHECK(memory_use().now == after_ten);
  }
  CHECK(total > 0);
}

TEST_CASE("a running total of losses cannot hold on to old tapes") {
  const Model model;
  Tape tape;
  Variable total = model.loss(tape, random_tensor({4, 3}, 2));
  tape.backward(total);
  CHECK_THROWS_AS(total = total + model.loss(tape, random_tensor({4, 3}, 2)), Error);
}

TEST_CASE("every op adds to the gradients that later ops have left") {
  for (const testing::Op& op : testing::every_op()) {
    CAPTURE(op.name);
    const testing::Outcome alone = testing::outcome_of(op.function, op.inputs);
    Tape tape;
    Inputs inputs;
    for (const Tensor& input : op.inputs) inputs.push_back(tape.variable(input));
    Variable total = testing::weighed(op.function(inputs));
    for (const Variable& input : inputs) total = total + scale(sum(input), 100);
    tape.backward(total);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Tensor expected = alone.gradients[i];
      for (Real& value : expected.values()) value += 100;
      check_close(inputs[i].gradient(), expected);
    }
  }
}

TEST_CASE("a tape with a profile counts every op once, and changes no bit") {
  for (const testing::Op& op : testing::every_op()) {
    CAPTURE(op.name);
    const testing::Outcome plain = testing::outcome_of(op.function, op.inputs);
    Profile profile;
    Tape tape(&profile);
    Inputs inputs;
    for (const Tensor& input : op.inputs) inputs.push_back(tape.variable(input));
    const Variable y = op.function(inputs);
    const Variable loss = testing::weighed(y);
    const auto recorded = static_cast<Index>(tape.size());
    tape.backward(loss);
    CHECK(testing::same_bits(y.value(), plain.value));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      CHECK(testing::same_bits(inputs[i].gradient(), plain.gradients[i]));
    Index calls = 0;
    for (const Profile::Entry& entry : profile.entries()) {
      calls += entry.calls;
      CHECK(entry.forward >= 0);
      CHECK(entry.backward >= 0);
    }
    CHECK(calls == recorded);
  }
}

TEST_CASE("a profile names the ops of a pass in their order, and goes on over passes and tapes") {
  const Model model;
  Profile profile;
  Tape tape(&profile);
  for (int pass = 1; pass <= 3; ++pass) {
    Tape other(&profile);
    Tape& used = pass < 3 ? tape : other;
    used.backward(model.loss(used, random_tensor({4, 3}, 2)));
    std::string listing;
    for (const Profile::Entry& entry : profile.entries())
      listing += std::string(entry.name) + " " + std::to_string(entry.calls) + ", ";
    const std::string times = std::to_string(pass);
    // A mean is a sum that is scaled, and a sum of all is one along an axis between two reshapes.
    CHECK(listing == "linear " + times + ", multiply " + times + ", reshape " + std::to_string(2 * pass) +
                         ", sum " + times + ", scale " + times + ", ");
  }
}

TEST_CASE(
    "a tape that looks for faults names the first op with a result that is not finite, and no other tape "
    "does") {
  const Real huge = std::sqrt(std::numeric_limits<Real>::max()) * 10;
  for (const bool looking : {false, true}) {
    CAPTURE(looking);
    Tape tape;
    if (looking) tape.look_for_fault();
    const Variable x = tape.variable(Tensor({2}, {1, huge}));
    const Variable small = exp(scale(x, -1));
    const Variable square = x * x;
    const Variable loss = sum(scale(small + square, 2));
    CHECK(tape.fault().has_value() == looking);
    tape.backward(loss);
    if (!looking) continue;
    CHECK(std::string(tape.fault()->op) == "multiply");
    CHECK(tape.fault()->step == 2);
    CHECK_FALSE(tape.fault()->backward);
  }
}

TEST_CASE("a gradient that overflows where no value does is a fault of the op that went back") {
  const Real huge = std::sqrt(std::numeric_limits<Real>::max()) * 10;
  Tape tape;
  tape.look_for_fault();
  const Variable x = tape.variable(Tensor({2}));
  const Variable loss = sum(scale(scale(scale(x, 1), huge), huge));
  CHECK_FALSE(tape.fault().has_value());
  tape.backward(loss);
  REQUIRE(tape.fault().has_value());
  CHECK(std::string(tape.fault()->op) == "scale");
  CHECK(tape.fault()->step == 1);
  CHECK(tape.fault()->backward);
}

TEST_CASE("every op lets go of its memory, whether its tape ran or not") {
  for (const testing::Op& op : testing::every_op()) {
    CAPTURE(op.name);
    const Index before = memory_use().now;
    for (const bool run : {false, true}) {
      {
        Tape tape;
        Inputs inputs;
        for (const Tensor& input : op.inputs) inputs.push_back(tape.variable(input));
        const Variable loss = sum(op.function(inputs));
        if (run) tape.backward(loss);
      }
      CHECK(memory_use().now == before);
    }
  }
}

}  // namespace tapehead
