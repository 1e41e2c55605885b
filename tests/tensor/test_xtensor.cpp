#include "tapehead/tensor/xtensor.h"

#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xview.hpp>

#include "support/testing.h"

namespace tapehead {

TEST_CASE("a view has the tensor's shape and shares its numbers") {
  Tensor tensor({2, 3}, {0, 1, 2, 10, 11, 12});
  auto window = view(tensor);
  REQUIRE(window.dimension() == 2);
  CHECK(window.shape(0) == 2);
  CHECK(window.shape(1) == 3);
  CHECK(window(1, 2) == 12);
  window(1, 0) = 7;
  CHECK(tensor(1, 0) == 7);
  const Tensor& read_only = tensor;
  CHECK(view(read_only)(0, 1) == 1);
  CHECK(view(tensor.data() + 3, Shape{3})(0) == 7);
}

TEST_CASE("an assignment through noalias writes into the tensor's own block") {
  const Tensor a({2, 2}, {1, 2, 3, 4});
  const Tensor b({2}, {10, 20});
  Tensor c(Shape{2, 2});
  const Real* block = c.data();
  auto window = view(c);
  xt::noalias(window) = view(a) * view(b);
  xt::noalias(window) += view(a);
  CHECK(c.data() == block);
  testing::check_close(c, {2, 2}, {11, 42, 33, 84}, 0);
}

TEST_CASE("a softmax is right when each reduction is put in a named container first") {
  const Tensor scores({2, 3}, {0.5, -1, 2, 3, 0, 1});
  Tensor pattern(Shape{2, 3});
  auto window = view(pattern);
  const xt::xtensor<Real, 2> largest = xt::amax(view(scores), {1}, xt::keep_dims);
  xt::noalias(window) = xt::exp(view(scores) - largest);
  const xt::xtensor<Real, 2> total = xt::sum(window, {1}, xt::keep_dims);
  xt::noalias(window) = window / total;
  testing::check_close(pattern, {2, 3}, {0.175290, 0.039113, 0.785597, 0.843795, 0.042010, 0.114195}, 1e-6);
}

TEST_CASE("rows are centred when the mean is put in a named container first") {
  const Tensor scores({2, 3}, {0.5, -1, 2, 3, 0, 1});
  Tensor centred(Shape{2, 3});
  auto window = view(centred);
  const xt::xtensor<Real, 2> mean = xt::mean(view(scores), {1}, xt::keep_dims);
  xt::noalias(window) = view(scores) - mean;
  testing::check_close(centred, {2, 3}, {0, -1.5, 1.5, 5.0 / 3, -4.0 / 3, -1.0 / 3}, 1e-6);
}

TEST_CASE("a tensor of rank 0 or without elements can be viewed") {
  Tensor number(Shape{}, {4});
  CHECK(view(number).dimension() == 0);
  CHECK(view(number)() == 4);
  Tensor none(Shape{3, 0});
  CHECK(view(none).size() == 0);
  CHECK(view(none).shape(0) == 3);
}

}  // namespace tapehead
