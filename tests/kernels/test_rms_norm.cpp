#include "tapehead/kernels/rms_norm.h"

#include <limits>

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"

namespace tapehead {

namespace {

using testing::Inputs;
using testing::random_tensor;

constexpr Real kEpsilon = static_cast<Real>(1e-5);

/// x / sqrt(mean x² + epsilon) * gain, in elementary ops.
Variable definition(const Variable& x, const Variable& gain) {
  return x / sqrt(mean(x * x, -1) + Variable(Tensor({1}, {kEpsilon}))) * gain;
}

}  // namespace

TEST_CASE("RMS norm is its definition in elementary ops, forward and backward") {
  for (const Index width : {1, 3, 16, 17, 65})
    testing::check_same([](const Inputs& in) { return rms_norm(in[0], in[1], kEpsilon); },
                        [](const Inputs& in) { return definition(in[0], in[1]); },
                        {random_tensor({2, 3, width}, 1), random_tensor({width}, 2)});
}

TEST_CASE("RMS norm keeps the mean that LayerNorm takes off") {
  const Variable x(Tensor({1, 4}, {2, 2, 2, 2}));
  const Variable ones(Tensor({4}, {1, 1, 1, 1}));
  testing::check_close(rms_norm(x, ones, kEpsilon).value(), {1, 4},
                       {0.99999875, 0.99999875, 0.99999875, 0.99999875});
  testing::check_close(layer_norm(x, ones, {}, kEpsilon).value(), {1, 4}, {0, 0, 0, 0});
}

TEST_CASE("RMS norm of zeros is zeros, and of a NaN is NaN") {
  const Variable gain(Tensor({2}, {1, 1}));
  testing::check_close(rms_norm(Variable(Tensor({1, 2})), gain, kEpsilon).value(), {1, 2}, {0, 0}, 0);
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Tensor y = rms_norm(Variable(Tensor({1, 2}, {nan, 1})), gain, kEpsilon).value();
  CHECK(y(0, 0) != y(0, 0));
  CHECK(y(0, 1) != y(0, 1));
}

TEST_CASE("RMS norm says what it expects") {
  const Variable x(Tensor({2, 3}));
  CHECK_THROWS_WITH_AS(rms_norm(x, Variable(Tensor({2})), kEpsilon),
                       "[rms_norm] expected x (..., C) and gain (C), got (2, 3) and (2)", Error);
  CHECK_THROWS_WITH_AS(rms_norm(x, Variable(Tensor({3})), 0), "[rms_norm] expected an epsilon above 0, got 0",
                       Error);
}

}  // namespace tapehead
