#include "tapehead/autograd/gradient_check.h"

#include <cmath>
#include <limits>
#include <vector>

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using testing::Inputs;
using testing::random_tensor;

/// x squared, whose step back multiplies the slope of element 0 by `factor`; 1 is right.
Variable squared(const Variable& x, Real factor) {
  Variable y = Variable::result("squared", x.shape(), {&x});
  for (Index i = 0; i < x.shape().count(); ++i) y.output()[i] = x.data()[i] * x.data()[i];
  record("squared", y, [x, y, factor] {
    for (Index i = 0; i < x.shape().count(); ++i)
      x.gradient_sum()[i] += (i == 0 ? factor : 1) * 2 * x.data()[i] * y.upstream()[i];
  });
  return y;
}

/// 3 + the sum of tanh(w)², at 64 points from -1.3 to 1.7.
Tensor points() {
  Tensor w(Shape{64});
  for (Index i = 0; i < 64; ++i) w(i) = static_cast<Real>(-1.3 + 3 * static_cast<double>(i) / 63);
  return w;
}
Variable hill(const Variable& w) {
  const Variable t = tanh(w);
  return Variable(Tensor({}, {3})) + sum(t * t);
}

}  // namespace

#ifndef TAPEHEAD_DOUBLE
TEST_CASE("in float the gradient check refuses, since rounding would drown the differences") {
  const auto loss = [](Tape&, const Inputs& in) { return sum(squared(in[0], 1)); };
  CHECK_THROWS_WITH_AS(gradient_check({points()}, loss),
                       "[gradient_check] finite differences need the double build", Error);
}
#endif

TEST_CASE("the tape's derivative is right in either precision") {
  Tape tape;
  const Variable w = tape.variable(points());
  tape.backward(hill(w));
  CHECK(w.gradient()(40) == doctest::Approx(0.7651789151749974).epsilon(1e-6));
}

DOUBLE_TEST_CASE("a right gradient passes and a slightly wrong one does not") {
  const auto error = [](Real factor) {
    return testing::gradient_error([&](const Inputs& in) { return squared(in[0], factor); },
                                   {random_tensor({20}, 1)});
  };
  CHECK(error(1) < 1e-9);
  CHECK(error(1.001) > 1e-6);
  CHECK(error(-1) > 1e-2);
  CHECK(error(0) > 1e-2);
  CHECK(std::isnan(error(std::numeric_limits<Real>::quiet_NaN())));
}

DOUBLE_TEST_CASE("the gradient check sees a gradient that is missing, for inputs of any number") {
  const auto forgotten = [](const Inputs& in) { return in[0] + Variable(in[1].value()); };
  CHECK(testing::gradient_error(forgotten, {random_tensor({3}, 1), random_tensor({3}, 2)}) > 1e-2);
  const auto right = [](const Inputs& in) { return in[0] + in[1]; };
  CHECK(testing::gradient_error(right, {random_tensor({3}, 1), random_tensor({3}, 2)}) < 1e-9);
}

DOUBLE_TEST_CASE("the gradient check of parameters finds a wrong gradient, and puts the parameters back") {
  Parameters parameters;
  const Parameter weight = parameters.add("weight", {4, 5}, Start::normal(1));
  const Parameter bias = parameters.add("bias", {5}, Start::normal(1));
  parameters.initialise(1);
  const std::vector<Real> before(parameters.values().begin(), parameters.values().end());
  const auto error = [&](Real factor) {
    return gradient_check(parameters, [&](Tape& tape) {
      return testing::weighed(squared(tape.parameter(weight), factor) + tape.parameter(bias));
    });
  };
  CHECK(error(1) < 1e-9);
  CHECK(error(1.01) > 1e-6);
  CHECK(std::vector<Real>(parameters.values().begin(), parameters.values().end()) == before);
}

DOUBLE_TEST_CASE("what the tangent leaves of a function shrinks as the square of the step") {
  const Tensor direction = random_tensor({64}, 1);
  Tape tape;
  const Variable w = tape.variable(points());
  const Variable value = hill(w);
  tape.backward(value);
  const auto remainder = [&](double step) {
    Tensor moved = points();
    double predicted = static_cast<double>(value.item());
    for (Index i = 0; i < 64; ++i) {
      moved(i) += static_cast<Real>(step) * direction(i);
      predicted += step * static_cast<double>(w.gradient()(i) * direction(i));
    }
    return std::abs(static_cast<double>(hill(Variable(moved)).item()) - predicted);
  };
  CHECK(remainder(1e-3) / remainder(5e-4) == doctest::Approx(4).epsilon(0.02));
}

}  // namespace tapehead
