#include "tapehead/kernels/layer_norm.h"

#include <cmath>

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

constexpr Real kEpsilon = static_cast<Real>(1e-5);

Variable centred(const Variable& x) { return x - mean(x, -1); }

/// (x - mean) / sqrt(variance + epsilon) * gain, in elementary ops.
Variable definition(const Variable& x, const Variable& gain) {
  const Variable distance = centred(x);
  const Variable variance = mean(distance * distance, -1);
  return distance / sqrt(variance + Variable(Tensor({1}, {kEpsilon}))) * gain;
}

Tensor normalised(std::initializer_list<Real> row) {
  Tensor ones(Shape{static_cast<Index>(row.size())});
  ones.fill(1);
  return layer_norm(Variable(Tensor(ones.shape(), row)), Variable(ones), Variable(), kEpsilon).value();
}

}  // namespace

TEST_CASE("layer norm is its definition in elementary ops, forward and backward") {
  for (const Index rows : {1, 3, 17})
    for (const Index width : {1, 3, 17, 63, 65}) {
      CAPTURE(rows);
      CAPTURE(width);
      const Tensor x = random_tensor({rows, width}, 1, 2);
      const Tensor gain = random_tensor({width}, 2);
      testing::check_same([](const Inputs& in) { return layer_norm(in[0], in[1], in[2], kEpsilon); },
                          [](const Inputs& in) { return definition(in[0], in[1]) + in[2]; },
                          {x, gain, random_tensor({width}, 3)});
      testing::check_same([](const Inputs& in) { return layer_norm(in[0], in[1], {}, kEpsilon); },
                          [](const Inputs& in) { return definition(in[0], in[1]); }, {x, gain});
    }
}

TEST_CASE("centring is exact") {
  const Variable x(Tensor({2, 3}, {Real(0.5), -1, 2, 3, 0, 1}));
  check_close(centred(x).value(), {2, 3}, {0, -1.5, 1.5, 5 / 3.0, -4 / 3.0, -1 / 3.0});
}

TEST_CASE("layer norm divides by the population's variance") {
  check_close(normalised({1, 2, 4, 9}), {4}, {-0.973328014507, -0.648885343004, 0, 1.62221335751});
}

TEST_CASE("a large mean does not cancel the variance") {
  check_close(normalised({3000, Real(3000.5), 3001, Real(3001.5)}), {4},
              {-1.34161932076, -0.447206440254, 0.447206440254, 1.34161932076});
}

TEST_CASE("a constant row is normalised to zeros, also a row of one number") {
  check_close(normalised({7, 7, 7}), {3}, {0, 0, 0}, 0);
  check_close(normalised({7}), {1}, {0}, 0);
}

TEST_CASE("the layer norm kernel adds to gradients") {
  const Tensor x({1, 2}, {1, 3});
  const Tensor gain({2}, {1, 1});
  const Tensor dy({1, 2}, {1, 1});
  Tensor y(Shape{1, 2}), mean(Shape{1}), scale(Shape{1});
  kernels::layer_norm_forward(y.data(), mean.data(), scale.data(), x.data(), gain.data(), nullptr, kEpsilon,
                              1, 2);
  check_close(mean, {1}, {2}, 0);
  check_close(scale, {1}, {1 / std::sqrt(1 + 1e-5)});
  Tensor dx({2}, {100, 100}), dgain({2}, {100, 100}), dbias({2}, {100, 100});
  kernels::layer_norm_backward(dx.data(), dgain.data(), dbias.data(), dy.data(), x.data(), gain.data(),
                               mean.data(), scale.data(), 1, 2);
  check_close(dx, {2}, {100, 100});
  check_close(dgain, {2}, {100 - 0.999995, 100 + 0.999995});
  check_close(dbias, {2}, {101, 101}, 0);
}

}  // namespace tapehead
