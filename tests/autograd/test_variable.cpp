#include "tapehead/autograd/variable.h"

#include <algorithm>

#include "support/ops.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"
#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;

/// x itself, whose op moves its gradient on or adds it. `there`, unless null, is set to where that gradient
/// was.
Variable passed_on(const Variable& x, bool is_moved, const Real** there = nullptr) {
  Variable y = Variable::result("passed_on", x.shape(), {&x});
  std::copy_n(x.data(), x.shape().count(), y.output());
  record("passed_on", y, [x, y, is_moved, there] {
    if (there != nullptr) *there = y.upstream();
    is_moved ? y.move_gradient_to(x) : y.add_gradient_to(x);
  });
  return y;
}

}  // namespace

TEST_CASE("a variable made without a tape is a constant with a value and no gradient") {
  const Variable x(Tensor({2}, {3, 4}));
  CHECK(static_cast<bool>(x));
  CHECK(!x.is_recorded());
  CHECK(x.tape() == nullptr);
  check_close(x.value(), {2}, {3, 4}, 0);
  CHECK_THROWS_WITH_AS(x.gradient(), "[variable] a constant has no gradient; make it with Tape::variable",
                       Error);
}

TEST_CASE("a variable that holds nothing says so") {
  const Variable nothing;
  CHECK(!nothing);
  CHECK(!nothing.is_recorded());
  CHECK_THROWS_WITH_AS(nothing.shape(), "[variable] this variable holds no value", Error);
  CHECK_THROWS_AS(nothing.value(), Error);
  CHECK_THROWS_AS(nothing.item(), Error);
  CHECK_THROWS_AS(nothing.gradient(), Error);
}

TEST_CASE("item is for single numbers of any rank") {
  CHECK(Variable(Tensor({}, {5})).item() == 5);
  CHECK(Variable(Tensor({1, 1}, {5})).item() == 5);
  CHECK_THROWS_WITH_AS(Variable(Tensor({2}, {3, 4})).item(),
                       "[variable] expected a single number, got shape (2)", Error);
}

TEST_CASE("copies of a handle share one value and one gradient") {
  Tape tape;
  const Variable x = tape.variable(Tensor({}, {3}));
  const Index before = memory_use().now;
  const Variable copy = x;
  CHECK(memory_use().now == before);
  CHECK(copy.data() == x.data());
  tape.backward(x * copy);
  CHECK(x.gradient()() == 6);
  CHECK(copy.gradient()() == 6);
}

TEST_CASE("value and gradient are copies that cannot change what a tape holds") {
  Tape tape;
  const Variable x = tape.variable(Tensor({2}, {3, 4}));
  Tensor value = x.value();
  value(0) = 100;
  tape.backward(sum(x * x));
  Tensor gradient = x.gradient();
  check_close(gradient, {2}, {6, 8}, 0);
  gradient(0) = 100;
  check_close(x.gradient(), {2}, {6, 8}, 0);
  check_close(x.value(), {2}, {3, 4}, 0);
}

TEST_CASE("a gradient is there after backward, and a parameter's is elsewhere") {
  Parameters parameters;
  const Parameter weight = parameters.add("weight", {2}, Start::constant(1));
  parameters.initialise(1);
  Tape tape;
  const Variable x = tape.variable(Tensor({2}, {3, 4}));
  const Variable w = tape.parameter(weight);
  const Variable y = sum(x * w);
  CHECK_THROWS_WITH_AS(x.gradient(), "[variable] the gradient is there after Tape::backward", Error);
  check_close(tape.backward(y), {2}, {3, 4}, 0);
  check_close(x.gradient(), {2}, {1, 1}, 0);
  CHECK_THROWS_WITH_AS(w.gradient(), "[variable] a parameter's gradient is in what Tape::backward returned",
                       Error);
}

TEST_CASE("the result of an op is on the tape of the inputs that are recorded") {
  Tape tape;
  const Variable constant(Tensor({}, {2}));
  const Variable x = tape.variable(Tensor({}, {3}));
  CHECK(!Variable::result("op", {2}, {&constant}).is_recorded());
  CHECK(Variable::result("op", {2}, {&constant, &x}).tape() == &tape);
  const Variable missing;
  CHECK(Variable::result("op", {2}, {&x, &missing}).tape() == &tape);
  CHECK(!constant.gradient_sink());
  CHECK(missing.gradient_sum() == nullptr);
  CHECK(x.gradient_sum() != nullptr);
}

TEST_CASE("a gradient that is moved on stays readable for whoever holds the handle") {
  for (const bool is_moved : {false, true})
    for (const bool is_held : {false, true}) {
      CAPTURE(is_moved);
      CAPTURE(is_held);
      Tape tape;
      const Variable x = tape.variable(Tensor({2}, {3, 4}));
      Variable y = passed_on(x, is_moved);
      const Variable loss = sum(y * Variable(Tensor({2}, {10, 20})));
      if (!is_held) y = {};
      tape.backward(loss);
      check_close(x.gradient(), {2}, {10, 20}, 0);
      if (is_held) check_close(y.gradient(), {2}, {10, 20}, 0);
    }
}

TEST_CASE("a gradient that is moved on is added to one that is there, and to a parameter's") {
  Parameters parameters;
  const Parameter weight = parameters.add("weight", {2}, Start::constant(1));
  parameters.initialise(1);
  for (const bool is_moved : {false, true}) {
    CAPTURE(is_moved);
    Tape tape;
    const Variable x = tape.variable(Tensor({2}, {3, 4}));
    const Variable w = tape.parameter(weight);
    const Variable loss = sum(passed_on(x, is_moved)) + sum(scale(passed_on(x, is_moved), 10)) +
                          sum(scale(passed_on(w, is_moved), 3)) + sum(passed_on(w, is_moved)) +
                          sum(passed_on(Variable(Tensor({2}, {5, 6})), is_moved));
    check_close(tape.backward(loss), {2}, {4, 4}, 0);
    check_close(x.gradient(), {2}, {11, 11}, 0);
  }
}

TEST_CASE("a gradient that nobody else will look at is handed over as it is, and otherwise copied") {
  for (const bool is_held : {false, true}) {
    CAPTURE(is_held);
    Tape tape;
    const Variable x = tape.variable(Tensor({2}, {3, 4}));
    const Real* there = nullptr;
    Variable y = passed_on(x, true, &there);
    const Variable loss = sum(y);
    if (!is_held) y = {};
    tape.backward(loss);
    REQUIRE(there != nullptr);
    CHECK((x.upstream() == there) == !is_held);
  }
}

TEST_CASE("a constant window shows a parameter's current value without a copy") {
  Parameters parameters;
  const Parameter weight = parameters.add("weight", {2, 2}, Start::constant(1));
  parameters.initialise(1);
  const Variable window = constant(weight.rows(1, 1));
  CHECK(!window.is_recorded());
  parameters.change()[2] = 7;
  check_close(window.value(), {1, 2}, {7, 1}, 0);
}

TEST_CASE("every op gives a recorded input its gradient, whether or not the others are constants") {
  for (const testing::Op& op : testing::every_op()) {
    CAPTURE(op.name);
    const testing::Outcome all = testing::outcome_of(op.function, op.inputs);
    for (std::size_t alone = 0; alone < op.inputs.size(); ++alone) {
      Tape tape;
      Inputs inputs;
      for (std::size_t i = 0; i < op.inputs.size(); ++i)
        inputs.push_back(i == alone ? tape.variable(op.inputs[i]) : Variable(op.inputs[i]));
      tape.backward(testing::weighed(op.function(inputs)));
      CHECK(testing::same_bits(inputs[alone].gradient(), all.gradients[alone]));
    }
  }
}

TEST_CASE("every op of constants gives the same value and records nothing") {
  for (const testing::Op& op : testing::every_op()) {
    CAPTURE(op.name);
    const Variable y = op.function(Inputs(op.inputs.begin(), op.inputs.end()));
    CHECK(!y.is_recorded());
    CHECK(testing::same_bits(y.value(), testing::outcome_of(op.function, op.inputs).value));
  }
}

}  // namespace tapehead
