/// Matrix products whose sums come out exactly, and what they must give.
#pragma once

#include <functional>
#include <initializer_list>

#include "tapehead/base/random.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/tensor/tensor.h"

namespace tapehead::testing {

/// A matrix (rows, columns) in an array of its own, whose rows lie `gap` numbers further apart than they are
/// long. The numbers in the gaps are NaN.
class Operand {
 public:
  Operand(const Tensor& values, bool transposed, Index gap);
  Matrix matrix() const { return {array_.data(), array_.shape()[1], transposed_}; }

 private:
  Tensor array_;
  bool transposed_;
};

/// Independent whole numbers from -4 to 4: sums of thousands of their products have no rounding, in whatever
/// order they are added.
Tensor whole_numbers(const Shape& shape, Generator& generator);

/// alpha * a * b + beta * c in double, by definition; a beta of 0 takes no notice of c.
Tensor product(const Tensor& a, const Tensor& b, double alpha = 1, double beta = 0, const Tensor& c = {});

/// One call of a matrix product, but for its numbers.
struct Call {
  Index m;
  Index n;
  Index k;
  bool a_transposed = false;
  bool b_transposed = false;
  Index gap = 0;
  Real alpha = 1;
  Real beta = 0;
  Triangle triangle = Triangle::none;
};

using Gemm = std::function<void(Real*, Index, Matrix, Matrix, const Call&)>;

/// How many of the wanted elements of C differ from the definition, on fresh whole numbers; and every number
/// between the rows of C that was touched. With beta = 0, C holds NaN beforehand.
Index faults(const Gemm& gemm, const Call& call, Generator& generator);

/// Checks that a product is exact for all transposes, row distances and factors, for every m, n and k that is
/// one of `sizes`.
void check_every_size(const Gemm& gemm, std::initializer_list<Index> sizes);

}  // namespace tapehead::testing
