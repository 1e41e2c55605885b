#include "tapehead/autograd/matmul.h"

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

Variable product(const Inputs& in) { return matmul(in[0], in[1]); }

Tensor counting(const Shape& shape, Index first = 0) {
  Tensor tensor(shape);
  for (Index i = 0; i < tensor.count(); ++i) tensor.data()[i] = static_cast<Real>(first + i);
  return tensor;
}

}  // namespace

TEST_CASE("the matrix product is the sum of outer products, forward and backward") {
  for (const Index m : {1, 3, 17})
    for (const Index k : {1, 3, 5})
      for (const Index n : {1, 17, 65}) {
        CAPTURE(m);
        CAPTURE(k);
        CAPTURE(n);
        const auto definition = [k](const Inputs& in) {
          Variable y = slice(in[0], 1, 0, 1) * slice(in[1], 0, 0, 1);
          for (Index i = 1; i < k; ++i) y = y + slice(in[0], 1, i, i + 1) * slice(in[1], 0, i, i + 1);
          return y;
        };
        testing::check_same(product, definition, {random_tensor({m, k}, 1), random_tensor({k, n}, 2)});
      }
}

TEST_CASE("a stack of matrices is multiplied matrix by matrix") {
  const Variable a(counting({2, 2, 3}));
  const Variable b(counting({2, 3, 2}));
  check_close(matmul(a, b).value(), {2, 2, 2}, {10, 13, 28, 40, 172, 193, 244, 274}, 0);
  check_close(matmul(a, Variable(counting({3, 2}))).value(), {2, 2, 2}, {10, 13, 28, 40, 46, 67, 64, 94}, 0);
}

TEST_CASE("a matrix shared by a whole batch gets the sum of its gradients") {
  Tape tape;
  const Variable x(counting({2, 2, 3}, -4));
  const Variable weight = tape.variable(random_tensor({3, 2}, 1));
  const Variable upstream(Tensor({2, 2, 2}, {1, 0, 0, 2, -1, 1, 3, 0}));
  tape.backward(sum(matmul(x, weight) * upstream));
  check_close(weight.gradient(), {3, 2}, {9, 0, 12, 3, 15, 6}, 0);
}

TEST_CASE("a stretched stack is multiplied as if it were repeated, forward and backward") {
  const auto repeated = [](const Variable& x, const Shape& shape) { return x + Variable(Tensor(shape)); };
  testing::check_same(product,
                      [&](const Inputs& in) {
                        return matmul(repeated(in[0], {2, 5, 3, 4}), repeated(in[1], {2, 5, 4, 1}));
                      },
                      {random_tensor({2, 1, 3, 4}, 1), random_tensor({5, 4, 1}, 2)});
  testing::check_same(product,
                      [&](const Inputs& in) {
                        return matmul(repeated(in[0], {2, 5, 1, 4}), repeated(in[1], {2, 5, 4, 3}));
                      },
                      {random_tensor({5, 1, 4}, 1), random_tensor({2, 1, 4, 3}, 2)});
}

DOUBLE_TEST_CASE("a matrix times itself, as it is or transposed, passes the gradient check") {
  CHECK(testing::gradient_error([](const Inputs& in) { return matmul(in[0], in[0]); },
                                {random_tensor({2, 3, 3}, 3)}) < 1e-6);
  CHECK(testing::gradient_error([](const Inputs& in) { return matmul(in[0], transpose(in[0], 0, 1)); },
                                {random_tensor({2, 3}, 4)}) < 1e-6);
}

TEST_CASE("matrices that do not fit are refused in words") {
  const Variable a(Tensor(Shape{2, 3}));
  CHECK_THROWS_WITH_AS(matmul(a, a), "[matmul] expected (..., M, K) and (..., K, N), got (2, 3) and (2, 3)",
                       Error);
  CHECK_THROWS_AS(matmul(a, Variable(Tensor(Shape{3}))), Error);
  CHECK_THROWS_AS(matmul(Variable(Tensor(Shape{2, 1, 3})), Variable(Tensor(Shape{3, 3, 1}))), Error);
}

}  // namespace tapehead
