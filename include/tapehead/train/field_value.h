/// What a field of a config can hold, and the same in words. It knows nothing of fields and files.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead {

/// A field's value. Which alternative a field has never changes; an enum is held as its word.
using FieldValue =
    std::variant<bool, Index, std::uint64_t, double, std::array<double, 2>, std::vector<Index>, std::string>;

/// What a field may be: one of the words, or, for numbers, between two limits.
struct Allowed {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_itself = true;
  bool high_itself = true;
  std::vector<std::string_view> words = {};
};

/// No text and no list is longer, so that a config stays one that is read.
inline constexpr std::size_t kLongestText = 3000;
inline constexpr std::size_t kLongestList = 64;

/// No count is larger, so that products of two stay within Index.
inline constexpr double kLargestCount = 1e9;

/// Whether a field with such values is a string of any content, such as a path.
bool is_free_text(const Allowed& allowed, const FieldValue& value);

/// Whether the value is one of the words, text in UTF-8 without control characters, a list that is short, or
/// finite and between the limits.
bool admits(const Allowed& allowed, const FieldValue& value);

/// What is expected of a field that holds such a value: "an integer of at least 1", "learned, sinusoidal or
/// none".
std::string expected_text(const Allowed& allowed, const FieldValue& value);

/// The value as TOML has it; numbers in the fewest digits that read back the same.
std::string written(const FieldValue& value);

}  // namespace tapehead
