/// A JSON object from a file of somebody else, read strictly, of which only some keys are wanted.
///
/// Nothing is held but the values of the wanted keys, however deep or long the rest is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "tapehead/base/number.h"

namespace tapehead {

/// Stands for a list or an object, whatever is in it.
struct JsonNested {
  const char* kind;
};
using JsonValue = std::variant<std::nullptr_t, bool, Index, double, std::string, JsonNested>;

class JsonObject {
 public:
  /// Reads the text of the file `name`; errors begin with `tag` and name. Throws Error unless it is one JSON
  /// object in which no wanted key stands twice.
  JsonObject(std::string_view text, const std::set<std::string_view>& wanted, std::string_view tag,
             std::string_view name);

  bool has(const std::string& key) const { return values_.contains(key); }
  bool is_null(const std::string& key) const;

  // The value at a wanted key. Each throws Error, with the key, if it is of another type or out of range.
  // `or_else` is for a key that is not there; without it the key has to be.
  Index count(const std::string& key, Index least) const;
  double number(const std::string& key, double or_else) const;
  bool truth(const std::string& key, bool or_else) const;
  std::string text(const std::string& key, const std::string& or_else) const;

  /// Throws Error: `key: expected ..., got ...`.
  [[noreturn]] void refuse(const std::string& key, std::string_view expected) const;

 private:
  std::string place_;
  std::map<std::string, JsonValue> values_;
};

}  // namespace tapehead
