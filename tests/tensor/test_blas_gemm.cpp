#include "tapehead/tensor/blas_gemm.h"

#include <thread>

#include "support/functions.h"
#include "support/products.h"

namespace tapehead {

namespace {

void product_of(Real* c, Index stride, Matrix a, Matrix b, const testing::Call& call) {
  blas_gemm(c, stride, a, b, call.m, call.n, call.k, call.alpha, call.beta);
}

}  // namespace

TEST_CASE("BLAS's product is exact for every size, transpose, row distance and factor") {
  testing::check_every_size(product_of, {1, 3, 17, 32, 65});
}

TEST_CASE("BLAS's product over no terms is beta times C, and no rows or columns write nothing") {
  Generator generator(1);
  for (const Real beta : {Real{0}, Real{1}, Real(0.5)})
    CHECK(testing::faults(product_of, {.m = 3, .n = 5, .k = 0, .beta = beta}, generator) == 0);
  Real untouched = 3;
  blas_gemm(&untouched, 1, {&untouched, 1}, {&untouched, 1}, 0, 1, 1, 1, 0);
  blas_gemm(&untouched, 1, {&untouched, 1}, {&untouched, 1}, 1, 0, 1, 1, 0);
  CHECK(untouched == 3);
}

TEST_CASE("two threads at once get from BLAS what one gets") {
  const Index size = 200;
  const Tensor a = testing::random_tensor({size, size}, 1);
  const auto square = [&] {
    Tensor c(Shape{size, size});
    blas_gemm(c.data(), size, {a.data(), size}, {a.data(), size, true}, size, size, size, 1, 0);
    return c;
  };
  const Tensor expected = square();
  bool same = true;
  std::thread other([&] {
    for (int i = 0; i < 10; ++i) same = testing::same_bits(square(), expected) && same;
  });
  bool same_here = true;
  for (int i = 0; i < 10; ++i) same_here = testing::same_bits(square(), expected) && same_here;
  other.join();
  CHECK(same);
  CHECK(same_here);
}

}  // namespace tapehead
