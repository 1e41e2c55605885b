#include "tapehead/kernels/gelu.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

Variable number(double value) { return Variable(Tensor({1}, {static_cast<Real>(value)})); }

/// x/2 (1 + tanh(sqrt(2/π) (x + 0.044715 x³))), in elementary ops.
Variable tanh_form(const Variable& x) {
  const Variable u = number(std::sqrt(2 / std::numbers::pi)) * (x + number(0.044715) * x * x * x);
  return number(0.5) * x * (number(1) + tanh(u));
}

Tensor slope(const Tensor& x, GeluForm form) {
  Tensor ones(x.shape());
  ones.fill(1);
  Tensor dx(x.shape());
  kernels::gelu_backward(dx.data(), ones.data(), x.data(), form, x.count());
  return dx;
}

}  // namespace

TEST_CASE("the tanh form of GELU is its definition in elementary ops, forward and backward") {
  for (const Index count : {1, 3, 17, 63, 65})
    testing::check_same([](const Inputs& in) { return gelu(in[0], GeluForm::tanh); },
                        [](const Inputs& in) { return tanh_form(in[0]); }, {random_tensor({count}, 1, 2)});
}

TEST_CASE("the erf form of GELU is x Φ(x) with slope Φ(x) + x φ(x)") {
  for (const Index count : {1, 3, 17, 63, 65}) {
    const Tensor x = random_tensor({count}, 1, 2);
    Tensor y(x.shape());
    Tensor dy(x.shape());
    for (Index i = 0; i < count; ++i) {
      const double v = static_cast<double>(x(i));
      const double below = 0.5 * (1 + std::erf(v / std::numbers::sqrt2));
      const double density = std::exp(-v * v / 2) / std::sqrt(2 * std::numbers::pi);
      y(i) = static_cast<Real>(v * below);
      dy(i) = static_cast<Real>(below + v * density);
    }
    check_close(gelu(Variable(x), GeluForm::erf).value(), y);
    check_close(slope(x, GeluForm::erf), dy);
  }
}

TEST_CASE("the two forms of GELU have their own known values") {
  const Tensor x({4}, {Real(-2.2), -1, Real(0.5), 3});
  check_close(gelu(Variable(x), GeluForm::tanh).value(), {4},
              {-0.0303214729619886, -0.158808009391723, 0.345714009825144, 2.99636260791823}, 1e-6);
  check_close(gelu(Variable(x), GeluForm::erf).value(), {4},
              {-0.0305875845296969, -0.158655253931457, 0.345731230637007, 2.99595030590511}, 1e-6);
  check_close(slope(x, GeluForm::tanh), {4},
              {-0.0649189492455519, -0.0829640838457825, 0.867369903534642, 1.01158416663097}, 1e-6);
  check_close(slope(x, GeluForm::erf), {4},
              {-0.0641406567482106, -0.0833154705876863, 0.867495124656163, 1.01194564720418}, 1e-6);
}

TEST_CASE("far from 0, GELU is 0 on the left and x on the right, and its slope 0 and 1") {
  const Tensor x({4}, {-10000, -100, 100, 10000});
  for (const GeluForm form : {GeluForm::tanh, GeluForm::erf}) {
    check_close(gelu(Variable(x), form).value(), {4}, {0, 0, 100, 10000}, 0);
    check_close(slope(x, form), {4}, {0, 0, 1, 1}, 0);
  }
}

TEST_CASE("GELU is 0 at 0 with slope one half, shows a NaN, and adds to gradients") {
  for (const GeluForm form : {GeluForm::tanh, GeluForm::erf}) {
    const Tensor x({2}, {0, std::numeric_limits<Real>::quiet_NaN()});
    const Tensor y = gelu(Variable(x), form).value();
    CHECK(y(0) == 0);
    CHECK(std::isnan(y(1)));
    Real dx = 10;
    const Real dy = 4;
    kernels::gelu_backward(&dx, &dy, x.data(), form, 1);
    CHECK(dx == 12);
  }
}

}  // namespace tapehead
