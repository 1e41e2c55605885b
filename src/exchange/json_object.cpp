#include "tapehead/exchange/json_object.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/train/config_fields.h"

namespace tapehead {

namespace {

using Json = nlohmann::json;

std::string in_words(const JsonValue& value) {
  struct Words {
    std::string operator()(std::nullptr_t) const { return "null"; }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(Index number) const { return std::to_string(number); }
    std::string operator()(double number) const { return written(number); }
    std::string operator()(const std::string& text) const { return quoted_name(text); }
    std::string operator()(JsonNested nested) const { return nested.kind; }
  };
  return std::visit(Words{}, value);
}

/// Takes the parser's events and keeps what stands at wanted keys of the outermost object.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  Reader(const std::set<std::string_view>& wanted, const std::string& place,
         std::map<std::string, JsonValue>& values)
      : wanted_(wanted), place_(place), values_(values) {}

  bool null() override { return keep(nullptr); }
  bool boolean(bool value) override { return keep(value); }
  bool number_integer(std::int64_t value) override { return keep(static_cast<Index>(value)); }
  bool number_unsigned(std::uint64_t value) override {
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
    if (value > largest) return keep(static_cast<double>(value));
    return keep(static_cast<Index>(value));
  }
  bool number_float(double value, const std::string&) override { return keep(value); }
  bool string(std::string& text) override { return keep(std::move(text)); }
  bool binary(Json::binary_t&) override { return keep(JsonNested{"binary data"}); }

  bool key(std::string& text) override {
    if (depth_ > 1) return true;
    is_wanted_ = wanted_.contains(text);
    if (is_wanted_ && values_.contains(text))
      throw Error(fmt::format("{}duplicate key {}", place_, quoted_name(text)));
    key_ = std::move(text);
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ > 0) keep(JsonNested{"an object"});
    ++depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    keep(JsonNested{"a list"});
    ++depth_;
    return true;
  }
  bool end_object() override { return --depth_ >= 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    throw Error(fmt::format("{}not valid JSON, at its byte {}", place_, position));
  }

 private:
  bool keep(JsonValue value) {
    require(depth_ > 0, "{}expected a JSON object, got {}", place_, in_words(value));
    if (depth_ == 1 && is_wanted_) values_.insert_or_assign(key_, std::move(value));
    return true;
  }

  const std::set<std::string_view>& wanted_;
  const std::string& place_;
  std::map<std::string, JsonValue>& values_;
  int depth_ = 0;
  std::string key_;
  bool is_wanted_ = false;
};

}  // namespace

JsonObject::JsonObject(std::string_view text, const std::set<std::string_view>& wanted, std::string_view tag,
                       std::string_view name)
    : place_(fmt::format("[{}] {}: ", tag, name)) {
  // The parser would take a zero byte for the end of the text and never see what follows.
  const std::size_t zero = text.find('\0');
  require(zero == std::string_view::npos, "{}not valid JSON, at its byte {}", place_, zero);
  Reader reader(wanted, place_, values_);
  Json::sax_parse(text.begin(), text.end(), &reader);
}

bool JsonObject::is_null(const std::string& key) const {
  const auto found = values_.find(key);
  return found != values_.end() && std::holds_alternative<std::nullptr_t>(found->second);
}

void JsonObject::refuse(const std::string& key, std::string_view expected) const {
  const auto found = values_.find(key);
  throw Error(fmt::format("{}{}: expected {}, got {}", place_, key, expected,
                          found == values_.end() ? "nothing" : in_words(found->second)));
}

Index JsonObject::count(const std::string& key, Index least) const {
  constexpr auto most = static_cast<Index>(kLargestCount);
  const auto found = values_.find(key);
  const Index* number = found == values_.end() ? nullptr : std::get_if<Index>(&found->second);
  if (number == nullptr || *number < least || *number > most)
    refuse(key, fmt::format("a whole number from {} to {}", least, most));
  return *number;
}

double JsonObject::number(const std::string& key, double or_else) const {
  if (!has(key)) return or_else;
  const JsonValue& value = values_.at(key);
  if (const Index* whole = std::get_if<Index>(&value)) return static_cast<double>(*whole);
  if (const double* number = std::get_if<double>(&value)) return *number;
  refuse(key, "a number");
}

bool JsonObject::truth(const std::string& key, bool or_else) const {
  if (!has(key)) return or_else;
  if (const bool* truth = std::get_if<bool>(&values_.at(key))) return *truth;
  refuse(key, "true or false");
}

std::string JsonObject::text(const std::string& key, const std::string& or_else) const {
  if (!has(key)) return or_else;
  if (const auto* text = std::get_if<std::string>(&values_.at(key))) return *text;
  refuse(key, "a string");
}

}  // namespace tapehead
