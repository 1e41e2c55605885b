#include "tapehead/tensor/shape.h"

#include <algorithm>
#include <limits>

#include "tapehead/base/require.h"

namespace tapehead {

Shape::Shape(std::initializer_list<Index> sizes)
    : Shape(std::span<const Index>(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const Index> sizes) : rank_(static_cast<int>(sizes.size())) {
  require(sizes.size() <= kMaxRank, "[shape] expected at most {} axes, got {}", kMaxRank, sizes.size());
  constexpr Index limit = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(double));
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    require(sizes[axis] >= 0, "[shape] expected sizes of at least 0, got {} for axis {}", sizes[axis], axis);
    require(sizes[axis] == 0 || count_ <= limit / sizes[axis],
            "[shape] more elements than memory can address");
    sizes_[axis] = sizes[axis];
    count_ *= sizes[axis];
  }
}

int Shape::checked_axis(int axis) const {
  const int from_front = axis < 0 ? axis + rank_ : axis;
  require(from_front >= 0 && from_front < rank_, "[shape] no axis {} in {}", axis, *this);
  return from_front;
}

Shape Shape::with(int axis, Index size) const {
  std::array<Index, kMaxRank> sizes = sizes_;
  sizes[static_cast<std::size_t>(checked_axis(axis))] = size;
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank_)));
}

Shape Shape::without(int axis) const {
  std::array<Index, kMaxRank> sizes = sizes_;
  const auto gone = sizes.begin() + checked_axis(axis);
  std::copy(gone + 1, sizes.begin() + rank_, gone);
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank_ - 1)));
}

Index Shape::rows() const {
  Index rows = 1;
  for (int axis = 0; axis + 1 < rank_; ++axis) rows *= sizes()[static_cast<std::size_t>(axis)];
  return rows;
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  text += ")";
  return text;
}

Shape broadcast(const Shape& a, const Shape& b) {
  if (a == b) return a;
  const int rank = std::max(a.rank(), b.rank());
  std::array<Index, Shape::kMaxRank> sizes{};
  for (int back = 1; back <= rank; ++back) {
    const Index from_a = back <= a.rank() ? a[-back] : 1;
    const Index from_b = back <= b.rank() ? b[-back] : 1;
    require(from_a == from_b || from_a == 1 || from_b == 1,
            "[broadcast] {} and {} do not fit: sizes {} and {} at axis {} from the end, and neither is 1", a,
            b, from_a, from_b, back);
    sizes[static_cast<std::size_t>(rank - back)] = from_a == 1 ? from_b : from_a;
  }
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank)));
}

}  // namespace tapehead
