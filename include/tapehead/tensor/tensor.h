/// A row-major array of numbers with value semantics: a copy is a copy, a move is cheap.
///
/// Nothing in it is lazy, strided or shared. `tensor/xtensor.h` looks at one through xtensor's expressions.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "tapehead/base/number.h"
#include "tapehead/tensor/memory.h"
#include "tapehead/tensor/shape.h"

namespace tapehead {

class Tensor {
 public:
  /// An empty array of shape (0).
  Tensor() = default;
  /// Zeros.
  explicit Tensor(const Shape& shape) : Tensor(uninitialised(shape)) { fill(0); }
  /// The given values, row by row. Throws Error unless there are as many as the shape holds.
  Tensor(const Shape& shape, std::span<const Real> values);
  Tensor(const Shape& shape, std::initializer_list<Real> values)
      : Tensor(shape, std::span<const Real>(values.begin(), values.size())) {}
  /// Arbitrary contents, for whoever writes every element next.
  static Tensor uninitialised(const Shape& shape);

  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor() = default;

  const Shape& shape() const { return shape_; }
  Index count() const { return shape_.count(); }
  Real* data() { return block_.get(); }
  const Real* data() const { return block_.get(); }
  std::span<Real> values() { return {data(), static_cast<std::size_t>(count())}; }
  std::span<const Real> values() const { return {data(), static_cast<std::size_t>(count())}; }

  /// The element at one index per axis, e.g. pattern(b, h, q, k). Throws Error for a wrong index.
  template <class... Indices>
  Real& operator()(Indices... indices) {
    return data()[offset({static_cast<Index>(indices)...})];
  }
  template <class... Indices>
  const Real& operator()(Indices... indices) const {
    return data()[offset({static_cast<Index>(indices)...})];
  }

  void fill(Real value) { std::fill_n(data(), count(), value); }
  /// The same elements under another shape of equal count. Throws Error otherwise.
  Tensor reshaped(const Shape& shape) const&;
  Tensor reshaped(const Shape& shape) &&;
  /// The block of numbers, which the tensor gives up.
  Buffer release() && {
    shape_ = Shape{0};
    return std::move(block_);
  }

 private:
  Index offset(std::initializer_list<Index> indices) const;

  Shape shape_{0};
  Buffer block_;
};

}  // namespace tapehead
