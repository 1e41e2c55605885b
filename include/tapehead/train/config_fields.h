/// The one listing of config fields. To add a field: a member in its struct, and a line here.
///
/// It knows names, types, ranges and words, and how to get and set a member; it knows nothing of files.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/train/config.h"

namespace tapehead {

/// A field's value. Which alternative a field has never changes; an enum is held as its word.
using FieldValue = std::variant<bool, Index, std::uint64_t, double, std::array<double, 2>, std::string>;

/// What a field may be: one of the words, or, for numbers, between two limits.
struct Allowed {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_itself = true;
  bool high_itself = true;
  std::vector<std::string_view> words = {};
};

/// No text is longer, so that a config stays one that is read.
inline constexpr std::size_t kLongestText = 3000;

/// No count is larger, so that products of two stay within Index.
inline constexpr double kLargestCount = 1e9;

struct ConfigField {
  std::string_view table;
  std::string_view key;
  Allowed allowed;
  std::string_view documentation;
  std::function<FieldValue(const Config&)> get;
  std::function<void(Config&, const FieldValue&)> set;

  /// "train.steps"
  std::string name() const { return std::string(table) + "." + std::string(key); }
  /// Whether the value is a string of any content, such as a path.
  bool is_free_text() const;
  /// Whether the value is one of the words, text in UTF-8 without control characters, or finite and between
  /// the limits.
  bool admits(const FieldValue& value) const;
  /// "an integer of at least 1", "learned, sinusoidal or none"
  std::string expected() const;
};

/// Every field, table by table, in the order of help and saved copy.
const std::vector<ConfigField>& config_fields();

/// The fields in which two configs differ, in that order.
std::vector<const ConfigField*> differing_fields(const Config& a, const Config& b);

/// The value as TOML has it; numbers in the fewest digits that read back the same.
std::string written(const FieldValue& value);

}  // namespace tapehead
