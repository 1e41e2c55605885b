#include "tapehead/kernels/softmax.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

Tensor weights_of(const Tensor& scores) {
  Tensor weights(scores.shape());
  const Index n = scores.shape()[-1];
  for (Index i = 0; i < scores.shape().rows(); ++i)
    kernels::softmax_row(weights.data() + i * n, scores.data() + i * n, n);
  return weights;
}

/// Row i holds the gradient of weight i with respect to every score.
Tensor jacobian_of(const Tensor& weights) {
  const Index n = weights.count();
  Tensor jacobian(Shape{n, n});
  for (Index i = 0; i < n; ++i) {
    Tensor upstream(Shape{n});
    upstream(i) = 1;
    kernels::softmax_row_backward(jacobian.data() + i * n, upstream.data(), weights.data(), n);
  }
  return jacobian;
}

/// The length of one row.
double norm(const Tensor& matrix, Index row) {
  double squares = 0;
  for (Index j = 0; j < matrix.shape()[1]; ++j) squares += std::pow(static_cast<double>(matrix(row, j)), 2);
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("softmax is exp over the sum of exp, forward and backward") {
  for (const Index rows : {1, 3})
    for (const Index n : {1, 3, 17, 63, 65}) {
      CAPTURE(n);
      testing::check_same([](const Inputs& in) { return softmax(in[0]); },
                          [](const Inputs& in) {
                            const Variable e = exp(in[0]);
                            return e / sum(e, -1);
                          },
                          {testing::random_tensor({rows, n}, 1, 2)});
    }
}

TEST_CASE("softmax gives the values worked out by hand") {
  check_close(
      weights_of(Tensor({2, 3}, {Real(0.5), -1, 2, 3, 0, 1})), {2, 3},
      {0.17529039214, 0.0391125732707, 0.785597034589, 0.843794734481, 0.0420100661341, 0.114195199385});
  check_close(weights_of(Tensor({3, 3}, {2, 0, 1, 0, 2, 1, 1, 1, 2})), {3, 3},
              {0.665240955775, 0.0900305731704, 0.244728471055, 0.0900305731704, 0.665240955775,
               0.244728471055, 0.211941557617, 0.211941557617, 0.576116884766});
}

TEST_CASE("a softmax that dot products of width 64 saturate learns four times slower than a scaled one") {
  const std::array<double, 6> raw{-9.799, -4.000, -0.607, 2.800, -3.593, -0.429};
  Tensor scores(Shape{6});
  Tensor scaled(Shape{6});
  for (Index i = 0; i < 6; ++i) {
    scores(i) = static_cast<Real>(raw[static_cast<std::size_t>(i)]);
    scaled(i) = scores(i) / 8;
  }
  const Tensor p = weights_of(scores);
  const Tensor p_scaled = weights_of(scaled);
  check_close(
      p, {6},
      {3.1383555e-06, 0.0010355613447, 0.030813214549, 0.929775948719, 0.0015557280599, 0.0368164089718});
  check_close(
      p_scaled, {6},
      {0.0607980702613, 0.125515976009, 0.191820118362, 0.293663058135, 0.132066825642, 0.196135951591});
  CHECK(norm(jacobian_of(p), 2) == doctest::Approx(0.041).epsilon(0.012));
  CHECK(norm(jacobian_of(p_scaled), 2) == doctest::Approx(0.173).epsilon(0.003));
}

TEST_CASE("the softmax Jacobian is p_i (1 where i = j, less p_j)") {
  const Tensor p = weights_of(testing::random_tensor({5}, 3));
  Tensor expected(Shape{5, 5});
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j) expected(i, j) = p(i) * ((i == j ? 1 : 0) - p(j));
  check_close(jacobian_of(p), expected);
}

TEST_CASE("the rows of the softmax Jacobian sum to 0, and its trace is largest for equal weights") {
  const auto trace = [](const Tensor& jacobian) {
    double total = 0;
    for (Index i = 0; i < jacobian.shape()[0]; ++i) {
      double row = 0;
      for (Index j = 0; j < jacobian.shape()[1]; ++j) row += static_cast<double>(jacobian(i, j));
      CHECK(std::abs(row) < testing::kRounding);
      total += static_cast<double>(jacobian(i, i));
    }
    return total;
  };
  const double even = trace(jacobian_of(weights_of(Tensor({4}, {2, 2, 2, 2}))));
  const double uneven = trace(jacobian_of(weights_of(Tensor({4}, {2, 1, 2, 2}))));
  const double one_hot = trace(jacobian_of(weights_of(Tensor({4}, {2000, 1, 2, 2}))));
  CHECK(even == doctest::Approx(0.75));
  CHECK(uneven < even);
  CHECK(one_hot == 0);
}

TEST_CASE("the gradient of a score is its weight times how far its value lies above the average") {
  const Tensor p({3}, {Real(0.25), Real(0.25), Real(0.5)});
  const Tensor dp({3}, {0, 2, 3});
  Tensor ds({3}, {10, 10, 10});
  kernels::softmax_row_backward(ds.data(), dp.data(), p.data(), 3);
  check_close(ds, {3}, {10 - 0.5, 10, 10 + 0.5});
}

TEST_CASE("the same number added to all scores changes no weight, however large it is") {
  const Tensor p = weights_of(Tensor({3}, {0, 1, 2}));
  CHECK(testing::same_bits(weights_of(Tensor({3}, {1000, 1001, 1002})), p));
  CHECK(testing::same_bits(weights_of(Tensor({3}, {-1000, -999, -998})), p));
  check_close(weights_of(Tensor({3}, {-10000, 10000, 0})), {3}, {0, 1, 0}, 0);
}

TEST_CASE("a score of minus infinity gets weight 0 exactly, at every place of a row") {
  for (const Index n : {2, 17, 65})
    for (Index hidden = 0; hidden < n; ++hidden) {
      Tensor scores = testing::random_tensor({n}, 5);
      scores(hidden) = -kInfinity;
      const Tensor p = weights_of(scores);
      double total = 0;
      for (const Real weight : p.values()) total += static_cast<double>(weight);
      CHECK(p(hidden) == 0);
      CHECK(total == doctest::Approx(1));
    }
}

TEST_CASE("a huge score takes all the weight, at every place of a row") {
  for (const Index n : {2, 17, 65})
    for (Index huge = 0; huge < n; ++huge) {
      Tensor scores = testing::random_tensor({n}, 5);
      scores(huge) = 10000;
      Tensor expected(Shape{n});
      expected(huge) = 1;
      check_close(weights_of(scores), expected, 0);
    }
}

TEST_CASE("a NaN among the scores, at every place of a row, is seen in all of its weights") {
  for (const Index n : {1, 17, 65})
    for (Index odd = 0; odd < n; ++odd) {
      Tensor scores = testing::random_tensor({n}, 5);
      scores(odd) = std::numeric_limits<Real>::quiet_NaN();
      const Tensor p = weights_of(scores);
      for (const Real weight : p.values()) CHECK(std::isnan(weight));
    }
}

TEST_CASE("a row of nothing but minus infinity is NaN, so that it is seen") {
  const Tensor p = weights_of(Tensor({2}, {-kInfinity, -kInfinity}));
  CHECK(std::isnan(p(0)));
  CHECK(std::isnan(p(1)));
}

TEST_CASE("softmax may write over its scores, and returns the two parts of the sum of exponentials") {
  Tensor row({3}, {1000, 1000, 1000});
  const kernels::ExpTotal total = kernels::softmax_row(row.data(), row.data(), 3);
  check_close(row, {3}, {1 / 3.0, 1 / 3.0, 1 / 3.0});
  CHECK(total.largest == 1000);
  CHECK(total.sum == 3);
}

}  // namespace tapehead
