/// The sizes of an array, in words: `(8, 32, 192)`.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>

#include "tapehead/base/number.h"

namespace tapehead {

/// Up to six sizes, outermost first; rank 0 is a single number. Held inline, so a shape costs no allocation.
class Shape {
 public:
  static constexpr int kMaxRank = 6;

  Shape() = default;
  /// Throws Error for more than six sizes, a negative one, or a product beyond what memory could hold.
  Shape(std::initializer_list<Index> sizes);
  explicit Shape(std::span<const Index> sizes);

  int rank() const { return rank_; }
  /// The number of elements.
  Index count() const { return count_; }
  /// The size of one axis; a negative axis counts from the end. Throws Error where there is no such axis.
  Index operator[](int axis) const { return sizes_[static_cast<std::size_t>(checked_axis(axis))]; }
  /// The same axis, counted from the front. Throws Error where there is no such axis.
  int checked_axis(int axis) const;
  std::span<const Index> sizes() const { return {sizes_.data(), static_cast<std::size_t>(rank_)}; }

  /// This shape with one axis given another size.
  Shape with(int axis, Index size) const;
  /// This shape without one axis.
  Shape without(int axis) const;
  /// The product of the sizes before the last: how many rows a row-wise kernel sees.
  Index rows() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && a.sizes_ == b.sizes_;
  }

 private:
  std::array<Index, kMaxRank> sizes_{};
  int rank_ = 0;
  Index count_ = 1;
};

/// "(8, 32, 192)"
std::string to_string(const Shape& shape);

/// The shape both operands are stretched to, by the usual rule: axes are matched from the last, and an axis
/// of size 1 stretches. Throws Error, naming both shapes, where they do not fit.
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace tapehead

/// A shape is handed to a message as it is, so that its text is made only when the message is.
template <>
struct fmt::formatter<tapehead::Shape> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  auto format(const tapehead::Shape& shape, fmt::format_context& context) const {
    const std::string text = tapehead::to_string(shape);
    return std::copy(text.begin(), text.end(), context.out());
  }
};
