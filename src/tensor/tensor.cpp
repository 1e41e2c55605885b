#include "tapehead/tensor/tensor.h"

#include <utility>

#include "tapehead/base/require.h"

namespace tapehead {

Tensor Tensor::uninitialised(const Shape& shape) {
  Tensor tensor;
  tensor.shape_ = shape;
  tensor.block_ = allocate(shape.count());
  return tensor;
}

Tensor::Tensor(const Shape& shape, std::span<const Real> values) : shape_(shape) {
  require(static_cast<Index>(values.size()) == shape.count(),
          "[tensor] expected {} values for shape {}, got {}", shape.count(), shape, values.size());
  if (values.empty()) return;
  block_ = allocate(shape.count());
  std::copy(values.begin(), values.end(), data());
}

Tensor::Tensor(const Tensor& other) : Tensor(other.shape_, other.values()) {}

Tensor& Tensor::operator=(const Tensor& other) {
  if (this != &other) *this = Tensor(other);
  return *this;
}

Tensor::Tensor(Tensor&& other) noexcept
    : shape_(std::exchange(other.shape_, Shape{0})), block_(std::move(other.block_)) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  std::swap(shape_, other.shape_);
  std::swap(block_, other.block_);
  return *this;
}

Tensor Tensor::reshaped(const Shape& shape) const& { return Tensor(*this).reshaped(shape); }

Tensor Tensor::reshaped(const Shape& shape) && {
  require(shape.count() == count(), "[reshape] {} has {} elements, {} has {}", shape_, count(), shape,
          shape.count());
  Tensor result = std::move(*this);
  result.shape_ = shape;
  return result;
}

Index Tensor::offset(std::initializer_list<Index> indices) const {
  require(static_cast<int>(indices.size()) == shape_.rank(), "[tensor] expected {} indices into {}, got {}",
          shape_.rank(), shape_, indices.size());
  Index offset = 0;
  int axis = 0;
  for (const Index index : indices) {
    const Index size = shape_[axis];
    require(index >= 0 && index < size, "[tensor] index {} is outside axis {} of {}", index, axis, shape_);
    offset = offset * size + index;
    ++axis;
  }
  return offset;
}

}  // namespace tapehead
