/// Token ids and masks: small integer arrays of shape (B, T), one row a sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/base/require.h"

namespace tapehead {

/// A (B, T) table of small integers, row-major.
template <class Value>
class Table {
 public:
  Table() = default;
  Table(Index batch, Index length, Value fill = {})
      : batch_(batch), length_(length), values_(checked_count(batch, length), fill) {}
  /// The given values, row by row. Throws Error unless they are batch * length many.
  Table(Index batch, Index length, std::vector<Value> values) : Table(batch, length) {
    require(values.size() == values_.size(), "[tokens] expected {} values for ({}, {}), got {}",
            values_.size(), batch, length, values.size());
    values_ = std::move(values);
  }

  Index batch() const { return batch_; }
  Index length() const { return length_; }
  Index count() const { return batch_ * length_; }
  bool empty() const { return values_.empty(); }
  Value& operator()(Index b, Index t) { return values_[offset(b, t)]; }
  const Value& operator()(Index b, Index t) const { return values_[offset(b, t)]; }
  std::span<const Value> values() const { return values_; }
  const Value* data() const { return values_.data(); }

  /// The rows first, ..., first + count - 1: the sequences of one shard.
  Table rows(Index first, Index count) const {
    require(first >= 0 && count >= 0 && first <= batch_ - count,
            "[tokens] no {} rows from row {} in a batch of {}", count, first, batch_);
    const auto begin = values_.begin() + first * length_;
    return Table(count, length_, std::vector<Value>(begin, begin + count * length_));
  }

  friend bool operator==(const Table&, const Table&) = default;

 private:
  static std::size_t checked_count(Index batch, Index length) {
    require(batch >= 0 && length >= 0, "[tokens] expected sizes of at least 0, got ({}, {})", batch, length);
    constexpr Index limit = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(Value));
    require(length == 0 || batch <= limit / length,
            "[tokens] ({}, {}) has more entries than memory can address", batch, length);
    return static_cast<std::size_t>(batch * length);
  }
  std::size_t offset(Index b, Index t) const {
    require(b >= 0 && b < batch_ && t >= 0 && t < length_, "[tokens] no entry ({}, {}) in ({}, {})", b, t,
            batch_, length_);
    return static_cast<std::size_t>(b * length_ + t);
  }

  Index batch_ = 0;
  Index length_ = 0;
  std::vector<Value> values_;
};

/// Token ids.
using Tokens = Table<std::int32_t>;
/// 1 where a key may be seen, 0 where it is padding.
using Mask = Table<std::uint8_t>;

}  // namespace tapehead
