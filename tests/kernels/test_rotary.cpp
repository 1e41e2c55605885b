#include "tapehead/kernels/rotary.h"

#include <cmath>
#include <complex>

#include "support/functions.h"
#include "tapehead/autograd/attention.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/nn/sinusoids.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::random_tensor;

/// Every pair as a complex number, times exp(i t / 10000^(2j/D)): Su et al. 2021, equation 13.
Tensor turned(const Tensor& x, Index heads) {
  const Index width = x.shape()[2] / heads;
  Tensor y(x.shape());
  for (Index b = 0; b < x.shape()[0]; ++b)
    for (Index t = 0; t < x.shape()[1]; ++t)
      for (Index c = 0; c < x.shape()[2]; c += 2) {
        const double rate = std::pow(10000.0, -static_cast<double>(c % width) / static_cast<double>(width));
        const std::complex<double> pair(static_cast<double>(x(b, t, c)), static_cast<double>(x(b, t, c + 1)));
        const std::complex<double> result = pair * std::polar(1.0, static_cast<double>(t) * rate);
        y(b, t, c) = static_cast<Real>(result.real());
        y(b, t, c + 1) = static_cast<Real>(result.imag());
      }
  return y;
}

/// The scores of one head between a query and a key, each at every position, (T, T).
Tensor scores_everywhere(const Tensor& query, const Tensor& key, Index length) {
  const Index width = query.count();
  const auto at_all = [&](const Tensor& row) {
    Tensor rows({1, length, width});
    for (Index t = 0; t < length; ++t)
      for (Index c = 0; c < width; ++c) rows(0, t, c) = row.data()[c];
    return rotary(Variable(rows), Variable(sinusoids(length, width)));
  };
  return reshape(matmul(at_all(query), transpose(at_all(key), 1, 2)), {length, length}).value();
}

}  // namespace

TEST_CASE("rotary positions multiply pairs by complex numbers of size 1, head by head") {
  for (const Index heads : {1, 2, 3}) {
    const Tensor x = random_tensor({2, 5, 12}, 1);
    check_close(rotary(Variable(x), Variable(sinusoids(5, 12 / heads))).value(), turned(x, heads));
  }
}

TEST_CASE("rotary scores depend on the distance alone, and differ between distances") {
  constexpr Index kLength = 40;
  const Tensor scores = scores_everywhere(random_tensor({8}, 1), random_tensor({8}, 2), kLength);
  for (Index t = 0; t + 1 < kLength; ++t)
    for (Index distance = -5; distance <= 5; ++distance) {
      const Index to = t + distance;
      if (to < 0 || to + 1 >= kLength) continue;
      CHECK(scores(t + 1, to + 1) == doctest::Approx(scores(t, to)).epsilon(kLength * testing::kRounding));
    }
  CHECK(std::abs(scores(20, 19) - scores(20, 17)) > 0.01);
}

TEST_CASE("rotary positions change no norm, and leave position 0 as it is") {
  const Tensor x = random_tensor({1, 7, 6}, 3);
  const Tensor y = rotary(Variable(x), Variable(sinusoids(7, 6))).value();
  for (Index t = 0; t < 7; ++t) {
    double before = 0, after = 0;
    for (Index c = 0; c < 6; ++c) {
      before += static_cast<double>(x(0, t, c) * x(0, t, c));
      after += static_cast<double>(y(0, t, c) * y(0, t, c));
      if (t == 0) CHECK(y(0, 0, c) == x(0, 0, c));
    }
    CHECK(after == doctest::Approx(before).epsilon(1e-5));
  }
}

TEST_CASE("rotary positions say what they expect") {
  CHECK_THROWS_WITH_AS(rotary(Variable(Tensor({1, 3, 6})), Variable(sinusoids(3, 3))),
                       "[rotary] expected x (B, T, H*D) and angles (T, D) with D even, got (1, 3, 6) and "
                       "(3, 3)",
                       Error);
  CHECK_THROWS_AS(rotary(Variable(Tensor({1, 3, 6})), Variable(sinusoids(4, 2))), Error);
}

}  // namespace tapehead
