#include "tapehead/autograd/elementary.h"

#include <cmath>
#include <limits>

#include "support/ops.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

constexpr double kWorst = 1e-6;
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

Variable constant_of(const Shape& shape, std::initializer_list<Real> values) {
  return Variable(Tensor(shape, values));
}

}  // namespace

DOUBLE_TEST_CASE("every elementary op passes the gradient check, whichever operand is broadcast") {
  for (const testing::Op& op : testing::elementary_ops()) {
    CAPTURE(op.name);
    CHECK(testing::gradient_error(op.function, op.inputs) < kWorst);
  }
}

DOUBLE_TEST_CASE("views pass the gradient check, one on top of another") {
  const auto error = [](const testing::Function& f) {
    return testing::gradient_error(f, {random_tensor({2, 3, 4}, 1)});
  };
  CHECK(error([](const Inputs& in) { return transpose(in[0], 1, 1); }) < kWorst);
  CHECK(error([](const Inputs& in) {
          return slice(reshape(transpose(slice(in[0], 2, 1, 4), 1, 2), {2, 9}), 1, 2, 8);
        }) < kWorst);
  CHECK(error([](const Inputs& in) { return slice(in[0], 1, 0, 2) * slice(in[0], 1, 1, 3); }) < kWorst);
}

DOUBLE_TEST_CASE("a value that is both operands of an op passes the gradient check") {
  const auto error = [](const testing::Function& f) {
    return testing::gradient_error(f, {random_tensor({3, 3}, 1)});
  };
  CHECK(error([](const Inputs& in) { return in[0] + in[0]; }) < kWorst);
  CHECK(error([](const Inputs& in) { return in[0] - scale(in[0], 3); }) < kWorst);
  CHECK(error([](const Inputs& in) { return in[0] * in[0] * in[0]; }) < kWorst);
  CHECK(error([](const Inputs& in) { return in[0] / (in[0] + exp(in[0])); }) < kWorst);
  CHECK(error([](const Inputs& in) { return in[0] + transpose(in[0], 0, 1) * sum(in[0], 0); }) < kWorst);
  CHECK(error([](const Inputs& in) {
          return where(Tensor({3, 3}, {1, 0, 0, 1, 0, 1, 1, 1, 0}), in[0], scale(in[0], 2));
        }) < kWorst);
}

TEST_CASE("one value as both operands has the sum of what each of them gets") {
  const Tensor x = random_tensor({3, 3}, 1);
  testing::check_roles([](const Inputs& in) { return in[0] + in[1]; }, x);
  testing::check_roles([](const Inputs& in) { return in[0] - in[1]; }, x);
  testing::check_roles([](const Inputs& in) { return in[0] * in[1]; }, x);
  testing::check_roles([](const Inputs& in) { return in[0] / in[1]; }, x);
  testing::check_roles([](const Inputs& in) { return matmul(in[0], in[1]); }, x);
  testing::check_roles([](const Inputs& in) { return transpose(in[0], 0, 1) + reshape(in[1], {3, 3}); }, x);
  testing::check_roles([](const Inputs& in) { return slice(in[0], 0, 1, 2) + in[1]; }, x);
  testing::check_roles([](const Inputs& in) { return in[0] + sum(in[1], 0) - in[1]; }, x);
  testing::check_roles(
      [](const Inputs& in) {
        return where(Tensor({3, 3}, {1, 0, 0, 1, 0, 1, 1, 1, 0}), in[0], in[1]);
      },
      x);
}

TEST_CASE("a value plus itself has gradient 2, minus itself 0, and times itself twice itself") {
  const auto gradient_of = [](const testing::Function& f) {
    Tape tape;
    const Variable x = tape.variable(Tensor({3}, {1, -2, 3}));
    tape.backward(sum(f({x})));
    return x.gradient();
  };
  check_close(gradient_of([](const Inputs& in) { return in[0] + in[0]; }), {3}, {2, 2, 2}, 0);
  check_close(gradient_of([](const Inputs& in) { return in[0] - in[0]; }), {3}, {0, 0, 0}, 0);
  check_close(gradient_of([](const Inputs& in) { return in[0] * in[0]; }), {3}, {2, -4, 6}, 0);
}

TEST_CASE("elementary ops give their values") {
  const Variable x = constant_of({2, 2}, {1, 4, 9, 16});
  check_close(sqrt(x).value(), {2, 2}, {1, 2, 3, 4});
  check_close(exp(log(x)).value(), {2, 2}, {1, 4, 9, 16});
  check_close((x - constant_of({2}, {1, 2})).value(), {2, 2}, {0, 2, 8, 14}, 0);
  check_close((x / constant_of({2, 1}, {2, 4})).value(), {2, 2}, {0.5, 2, 2.25, 4}, 0);
  check_close((Real(3) * x).value(), {2, 2}, {3, 12, 27, 48}, 0);
  check_close(tanh(constant_of({3}, {0, Real(0.5), -100})).value(), {3}, {0, 0.46211715726, -1});
  check_close(sum(x).value(), {}, {30}, 0);
  check_close(sum(x, 0).value(), {1, 2}, {10, 20}, 0);
  check_close(mean(x).value(), {}, {7.5}, 0);
  check_close(mean(x, -1).value(), {2, 1}, {2.5, 12.5}, 0);
  check_close(max(x, 0).value(), {1, 2}, {9, 16}, 0);
  check_close(max(constant_of({4}, {Real(1.5), -2, 9, 4}), 0).value(), {1}, {9}, 0);
}

TEST_CASE("views give their elements in the right order") {
  const Variable x = constant_of({2, 3}, {1, 2, 3, 4, 5, 6});
  check_close(reshape(x, {3, 2}).value(), {3, 2}, {1, 2, 3, 4, 5, 6}, 0);
  check_close(transpose(x, 0, 1).value(), {3, 2}, {1, 4, 2, 5, 3, 6}, 0);
  check_close(slice(x, 1, 1, 3).value(), {2, 2}, {2, 3, 5, 6}, 0);
  check_close(slice(x, -2, 1, 2).value(), {1, 3}, {4, 5, 6}, 0);
  check_close(slice(x, 0, 1, 1).value(), {0, 3}, {}, 0);
  check_close(gather(reshape(x, {1, 2, 3}), Tokens(1, 2, {2, 0})).value(), {1, 2}, {3, 4}, 0);
}

TEST_CASE("a broadcast operand gets the sum of the gradients it was stretched to") {
  Tape tape;
  const Variable x = tape.variable(Tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  const Variable bias = tape.variable(Tensor({3}, {Real(0.5), -1, 2}));
  const Variable y = x + bias;
  tape.backward(scale(sum(y * y), Real(0.5)));
  check_close(bias.gradient(), {3}, {6, 5, 13}, 0);
  check_close(x.gradient(), {2, 3}, {1.5, 1, 5, 4.5, 4, 8}, 0);
}

TEST_CASE("a value on two paths gets both gradients, and not before both have arrived") {
  Tape tape;
  const Variable a = tape.variable(Tensor({}, {Real(1.5)}));
  const Variable b = a * a;
  const Variable c = b + b * b;
  CHECK(c.item() == Real(7.3125));
  tape.backward(c);
  CHECK(a.gradient()() == Real(16.5));
}

TEST_CASE("the branch that was not taken passes no gradient, whatever it holds") {
  Tape tape;
  const Variable x = tape.variable(Tensor({2}, {Real(-2.25), 4}));
  const Variable y = where(Tensor({2}, {0, 1}), sqrt(x), x);
  check_close(y.value(), {2}, {-2.25, 2}, 0);
  tape.backward(sum(y));
  check_close(x.gradient(), {2}, {1, 0.25}, 0);
}

TEST_CASE("where nothing comes from above, an infinite or undefined slope passes nothing on") {
  const Tensor taken({2}, {0, 1});
  const auto gradient_of = [&](const testing::Function& f, Real value) {
    Tape tape;
    const Variable x = tape.variable(Tensor({2}, {value, 2}));
    tape.backward(sum(where(taken, f({x}), x)));
    return x.gradient()(0);
  };
  const Variable one = constant_of({1}, {1});
  CHECK(gradient_of([](const Inputs& in) { return sqrt(in[0]); }, 0) == 1);
  CHECK(gradient_of([](const Inputs& in) { return log(in[0]); }, 0) == 1);
  CHECK(gradient_of([](const Inputs& in) { return exp(in[0]); }, 100000) == 1);
  CHECK(gradient_of([&](const Inputs& in) { return one / in[0]; }, 0) == 1);
  CHECK(gradient_of([](const Inputs& in) { return in[0] / in[0]; }, 0) == 1);
  CHECK(gradient_of([](const Inputs& in) { return in[0] * log(in[0]); }, -1) == 1);
  CHECK(gradient_of([](const Inputs& in) { return tanh(in[0]); }, kNan) == 1);
}

TEST_CASE("a NaN that counts is seen in the gradient") {
  Tape tape;
  const Variable x = tape.variable(Tensor({2}, {-1, 4}));
  tape.backward(sum(sqrt(x)));
  CHECK(std::isnan(x.gradient()(0)));
  CHECK(x.gradient()(1) == Real(0.25));
}

TEST_CASE("the gradient of a maximum goes to the first of equals") {
  Tape tape;
  const Variable x = tape.variable(Tensor({2, 3}, {1, 7, 7, 5, 2, 5}));
  tape.backward(sum(max(x, 1)));
  check_close(x.gradient(), {2, 3}, {0, 1, 0, 1, 0, 0}, 0);
}

TEST_CASE("sums and means of many numbers do not drift") {
  // A running total in float stops at 2^24, where the distance between neighbours becomes 2.
  const Variable x = constant_of({5}, {16777216, 1, 1, 1, 1});
  CHECK(sum(x).item() == 16777220);
  CHECK(sum(x, 0).item() == 16777220);
  Tensor tenths(Shape{2'000'000});
  tenths.fill(Real(0.1));
  CHECK(mean(Variable(tenths)).item() == doctest::Approx(0.1).epsilon(1e-7));
}

TEST_CASE("an op with a constant gives a gradient to the other operand only") {
  Tape tape;
  const Variable x = tape.variable(Tensor({2}, {3, 4}));
  const Variable factor = constant_of({2}, {10, 20});
  tape.backward(sum(factor * x));
  check_close(x.gradient(), {2}, {10, 20}, 0);
  CHECK(!(factor * factor).is_recorded());
}

TEST_CASE("shapes that do not fit are refused in words") {
  const Variable x = constant_of({2, 3}, {1, 2, 3, 4, 5, 6});
  const Variable y = constant_of({2}, {1, 2});
  CHECK_THROWS_WITH_AS(
      x + y, "[broadcast] (2, 3) and (2) do not fit: sizes 3 and 2 at axis 1 from the end, and neither is 1",
      Error);
  CHECK_THROWS_WITH_AS(reshape(x, {4}), "[reshape] (2, 3) has 6 elements, (4) has 4", Error);
  CHECK_THROWS_WITH_AS(slice(x, 1, 2, 4), "[slice] no elements 2 to 4 along axis 1 of (2, 3)", Error);
  CHECK_THROWS_AS(slice(x, 1, -1, 2), Error);
  CHECK_THROWS_AS(slice(x, 1, 2, 1), Error);
  CHECK_THROWS_AS(transpose(x, 0, 2), Error);
  CHECK_THROWS_AS(sum(x, -3), Error);
  CHECK_THROWS_WITH_AS(where(Tensor(Shape{2, 3}), x, y),
                       "[where] expected three arrays of one shape, got (2, 3), (2, 3) and (2)", Error);
  CHECK_THROWS_WITH_AS(gather(x, Tokens(2, 3)), "[gather] expected x (B, T, N) for ids (2, 3), got (2, 3)",
                       Error);
  const Variable table = constant_of({1, 2, 2}, {1, 2, 3, 4});
  CHECK_THROWS_WITH_AS(gather(table, Tokens(1, 2, {0, 2})), "[gather] expected ids between 0 and 1, got 2",
                       Error);
  CHECK_THROWS_AS(gather(table, Tokens(1, 2, {0, -1})), Error);
  CHECK_THROWS_AS(mean(Variable(Tensor(Shape{0}))), Error);
  CHECK_THROWS_AS(max(Variable(Tensor(Shape{2, 0})), 1), Error);
  CHECK_THROWS_AS(softmax(Variable(Tensor(Shape{2, 0}))), Error);
  CHECK_THROWS_AS(exp(Variable()), Error);
}

}  // namespace tapehead
