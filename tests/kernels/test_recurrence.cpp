#include "tapehead/kernels/recurrence.h"

#include <cmath>
#include <limits>

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/elementwise.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/autograd/recurrence.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

/// h_t = tanh(x_t + h_{t-1} Uᵀ) in elementary ops, one position after the other, each put in its place.
Variable definition(const Inputs& in) {
  const Index length = in[0].shape()[1];
  const Variable across = transpose(in[1], 0, 1);
  Variable h;
  Variable all;
  for (Index t = 0; t < length; ++t) {
    const Variable x = slice(in[0], 1, t, t + 1);
    h = tanh(t == 0 ? x : x + matmul(h, across));
    Tensor place({length, 1});
    place(t, 0) = 1;
    all = t == 0 ? Variable(place) * h : all + Variable(place) * h;
  }
  return all;
}

}  // namespace

TEST_CASE("the recurrence is its definition step by step, forward and backward") {
  for (const Index batch : {1, 2, 9})
    for (const Index length : {1, 2, 7})
      for (const Index width : {1, 3, 17, 64}) {
        CAPTURE(batch);
        CAPTURE(length);
        CAPTURE(width);
        testing::check_same([](const Inputs& in) { return recurrence(in[0], in[1]); }, definition,
                            {random_tensor({batch, length, width}, 1),
                             random_tensor({width, width}, 2, 1 / std::sqrt(static_cast<double>(width)))},
                            5 * testing::kRounding);
      }
}

TEST_CASE("a recurrence of one number is tanh of tanh, and its weight is read outputs by inputs") {
  const double first = std::tanh(0.5);
  const double second = std::tanh(-0.25 + 2 * first);
  check_close(recurrence(Variable(Tensor({1, 2, 1}, {Real(0.5), Real(-0.25)})), Variable(Tensor({1, 1}, {2})))
                  .value(),
              {1, 2, 1}, {first, second}, 1e-6);
  // The second state hears from the first state's first number in its own second.
  const Variable h =
      recurrence(Variable(Tensor({1, 2, 2}, {1, 0, 0, 0})), Variable(Tensor({2, 2}, {0, 0, 1, 0})));
  check_close(h.value(), {1, 2, 2}, {std::tanh(1), 0, 0, std::tanh(std::tanh(1))}, 1e-6);
}

TEST_CASE("a state knows of no later position and of no other sequence") {
  Tensor x = random_tensor({3, 6, 5}, 3);
  const Variable weight(random_tensor({5, 5}, 4));
  const Tensor before = recurrence(Variable(x), weight).value();
  x(1, 3, 2) += 1;
  const Tensor after = recurrence(Variable(x), weight).value();
  for (Index b = 0; b < 3; ++b)
    for (Index t = 0; t < 6; ++t) {
      bool same = true;
      for (Index c = 0; c < 5; ++c) same = same && before(b, t, c) == after(b, t, c);
      CHECK(same == (b != 1 || t < 3));
    }
}

TEST_CASE("the recurrence kernels never read their output, and add to gradients") {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const kernels::RecurrenceSizes sizes{1, 2, 1};
  const Tensor x({2}, {0, 0});
  const Real weight = 3;
  Tensor h({2}, {nan, nan});
  kernels::recurrence_forward(h.data(), x.data(), &weight, sizes);
  check_close(h, {2}, {0, 0}, 0);
  const Tensor dh({2}, {0, 1});
  Tensor dx({2}, {100, 100});
  Real dweight = 100;
  kernels::recurrence_backward(dx.data(), &dweight, dh.data(), h.data(), &weight, sizes);
  check_close(dx, {2}, {103, 101}, 0);
  CHECK(dweight == 100);  // the earlier state is 0
  Tensor fresh({2}, {nan, nan});
  kernels::recurrence_backward({fresh.data(), 0}, nullptr, dh.data(), h.data(), &weight, sizes);
  check_close(fresh, {2}, {3, 1}, 0);
  kernels::recurrence_backward(nullptr, {&dweight, 0}, dh.data(), h.data(), &weight, sizes);
  CHECK(dweight == 0);
}

}  // namespace tapehead
