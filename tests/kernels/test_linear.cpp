#include "tapehead/kernels/linear.h"

#include <limits>

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/matmul.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

}  // namespace

TEST_CASE("linear is x times the transposed weight plus bias, forward and backward") {
  for (const Index rows : {1, 3, 17})
    for (const Index inputs : {1, 17, 63, 65})
      for (const Index outputs : {1, 3, 63, 65}) {
        CAPTURE(rows);
        CAPTURE(inputs);
        CAPTURE(outputs);
        const Tensor x = random_tensor({2, rows, inputs}, 1);
        const Tensor weight = random_tensor({outputs, inputs}, 2);
        testing::check_same([](const Inputs& in) { return linear(in[0], in[1], in[2]); },
                            [](const Inputs& in) { return matmul(in[0], transpose(in[1], 0, 1)) + in[2]; },
                            {x, weight, random_tensor({outputs}, 3)});
        testing::check_same([](const Inputs& in) { return linear(in[0], in[1]); },
                            [](const Inputs& in) { return matmul(in[0], transpose(in[1], 0, 1)); },
                            {x, weight});
      }
}

TEST_CASE("the weight of a linear layer is stored outputs by inputs") {
  const Variable y = linear(Variable(Tensor({2}, {1, 10})), Variable(Tensor({3, 2}, {1, 2, 3, 4, 5, 6})),
                            Variable(Tensor({3}, {Real(0.5), 0, Real(-0.5)})));
  check_close(y.value(), {3}, {21.5, 43, 64.5}, 0);
}

TEST_CASE("the gradient of a shared weight is summed over batch and time") {
  Tape tape;
  Tensor x(Shape{2, 2, 3});
  for (Index i = 0; i < x.count(); ++i) x.data()[i] = static_cast<Real>(i - 4);
  const Variable weight = tape.variable(random_tensor({2, 3}, 1));
  const Variable upstream(Tensor({2, 2, 2}, {1, 0, 0, 2, -1, 1, 3, 0}));
  tape.backward(sum(linear(Variable(x), weight) * upstream));
  check_close(weight.gradient(), {2, 3}, {9, 12, 15, 0, 3, 6}, 0);
}

TEST_CASE("the linear kernels never read their output, and add to gradients") {
  const Tensor x({2}, {1, 2});
  const Tensor weight({1, 2}, {3, 4});
  const Real one = 1;
  Real y = std::numeric_limits<Real>::quiet_NaN();
  kernels::linear_forward(&y, x.data(), weight.data(), nullptr, 1, 2, 1);
  CHECK(y == 11);
  Tensor dx({2}, {100, 100});
  Tensor dweight({2}, {100, 100});
  Real dbias = 100;
  kernels::linear_backward(dx.data(), dweight.data(), &dbias, &one, x.data(), weight.data(), 1, 2, 1);
  check_close(dx, {2}, {103, 104}, 0);
  check_close(dweight, {2}, {101, 102}, 0);
  CHECK(dbias == 101);
  kernels::linear_backward(nullptr, nullptr, nullptr, &one, x.data(), weight.data(), 1, 2, 1);
}

}  // namespace tapehead
