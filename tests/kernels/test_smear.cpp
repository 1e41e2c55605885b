#include "tapehead/kernels/smear.h"

#include <cmath>

#include "support/functions.h"
#include "tapehead/autograd/attention.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::random_tensor;

/// share x_t + (1 - share) x_{t-1}, written out.
Tensor definition(const Tensor& x, const Tensor& gate) {
  const Index head_width = x.shape()[2] / gate.count();
  Tensor y(x.shape());
  for (Index b = 0; b < x.shape()[0]; ++b)
    for (Index t = 0; t < x.shape()[1]; ++t)
      for (Index c = 0; c < x.shape()[2]; ++c) {
        const Real share = 1 / (1 + std::exp(-gate.data()[c / head_width]));
        y(b, t, c) = t == 0 ? x(b, t, c) : share * x(b, t, c) + (1 - share) * x(b, t - 1, c);
      }
  return y;
}

}  // namespace

TEST_CASE("smeared keys are a mix of each key and the one before it, by the gate of their head") {
  for (const Index heads : {1, 2, 3}) {
    const Tensor x = random_tensor({2, 4, 6}, 1);
    const Tensor gate = random_tensor({heads}, 2, 2);
    check_close(smear(Variable(x), Variable(gate)).value(), definition(x, gate));
  }
}

TEST_CASE("an open gate leaves keys as they are, a shut one gives each place the key before it") {
  const Variable x(Tensor({1, 3, 2}, {1, 10, 2, 20, 3, 30}));
  check_close(smear(x, Variable(Tensor({2}, {100, -100}))).value(), {1, 3, 2}, {1, 10, 2, 10, 3, 20});
}

TEST_CASE("a key after padding has none before it") {
  const Variable x(Tensor({1, 3, 1}, {1, 2, 4}));
  const Variable even(Tensor({1}));
  check_close(smear(x, even).value(), {1, 3, 1}, {1, 1.5, 3});
  check_close(smear(x, even, Mask(1, 3, {0, 1, 1})).value(), {1, 3, 1}, {1, 2, 3});
  CHECK_THROWS_WITH_AS(smear(x, even, Mask(1, 2, 1)), "[smear] expected a padding mask (1, 3), got (1, 2)",
                       Error);
}

TEST_CASE("smeared keys say what they expect") {
  CHECK_THROWS_WITH_AS(smear(Variable(Tensor({1, 3, 4})), Variable(Tensor({3}))),
                       "[smear] expected x (B, K, H*D) and gate (H), got (1, 3, 4) and (3)", Error);
}

}  // namespace tapehead
