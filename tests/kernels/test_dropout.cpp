#include "tapehead/kernels/dropout.h"

#include <cmath>
#include <cstdint>

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

Tensor ones(Index count) {
  Tensor tensor(Shape{count});
  tensor.fill(1);
  return tensor;
}

Tensor dropped(const Tensor& x, double p, std::uint64_t seed) {
  Generator generator(seed, Purpose::dropout);
  return dropout(Variable(x), p, generator).value();
}

}  // namespace

TEST_CASE("dropout is x times a mask of 0 and 1/(1 - p), forward and backward") {
  for (const Index count : {1, 3, 17, 63, 65}) {
    const Variable mask(dropped(ones(count), 0.25, 1));
    testing::check_same(
        [](const Inputs& in) {
          Generator generator(1, Purpose::dropout);
          return dropout(in[0], 0.25, generator);
        },
        [&](const Inputs& in) { return in[0] * mask; }, {random_tensor({count}, 2)});
  }
}

TEST_CASE("of eight equal weights of 0.125, p = 0.5 leaves some at 0.25 and makes the others 0") {
  Tensor weights(Shape{8});
  weights.fill(Real(0.125));
  int kept = 0;
  const Tensor y = dropped(weights, 0.5, 123);
  for (const Real weight : y.values()) {
    CHECK((weight == Real(0.25) || weight == 0));
    if (weight != 0) ++kept;
  }
  CHECK(kept > 0);
  CHECK(kept < 8);
  CHECK(testing::same_bits(dropped(weights, 0, 123), weights));
}

TEST_CASE("the numbers that were dropped get no gradient, and the others the gradient times the scale") {
  Tape tape;
  Generator generator(9, Purpose::dropout);
  const Variable x = tape.variable(ones(64));
  const Variable y = dropout(x, 0.5, generator);
  tape.backward(sum(y));
  CHECK(testing::same_bits(x.gradient(), y.value()));
}

TEST_CASE("a fraction p is dropped, and the mean stays") {
  const Index count = 100'000;
  for (const double p : {0.1, 0.5, 0.9}) {
    CAPTURE(p);
    Index zeros = 0;
    double total = 0;
    const Tensor y = dropped(ones(count), p, 5);
    for (const Real value : y.values()) {
      if (value == 0) ++zeros;
      total += static_cast<double>(value);
    }
    const double error = std::sqrt(p * (1 - p) / static_cast<double>(count));
    CHECK(std::abs(static_cast<double>(zeros) / static_cast<double>(count) - p) < 4 * error);
    CHECK(std::abs(total / static_cast<double>(count) - 1) < 4 * error / (1 - p));
  }
}

TEST_CASE("p = 1 gives zeros and a gradient of zeros, never NaN") {
  Tape tape;
  Generator generator(9, Purpose::dropout);
  const Variable x = tape.variable(Tensor({3}, {3, -2, 7}));
  const Variable y = dropout(x, 1, generator);
  check_close(y.value(), {3}, {0, 0, 0}, 0);
  tape.backward(sum(y));
  check_close(x.gradient(), {3}, {0, 0, 0}, 0);
}

TEST_CASE("the dropout kernel takes the mask it is given, and adds to gradients") {
  const std::uint8_t kept[] = {1, 0, 1};
  const Tensor x({3}, {Real(0.75), Real(0.25), Real(0.5)});
  Tensor y(Shape{3});
  kernels::dropout_forward(y.data(), x.data(), kept, 2, 3);
  check_close(y, {3}, {1.5, 0, 1}, 0);
  Tensor dx({3}, {10, 10, 10});
  kernels::dropout_backward(dx.data(), x.data(), kept, 2, 3);
  check_close(dx, {3}, {11.5, 10, 11}, 0);
}

}  // namespace tapehead
