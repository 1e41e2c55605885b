#include "tapehead/train/field_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

/// The fewest digits that read back the same: "0.5", "3e-4", "1e9".
std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  const std::size_t exponent = text.find('e');
  if (exponent == std::string::npos || !std::isfinite(value)) return text;
  const std::size_t digits = text.find_first_not_of("+-0", exponent + 1);
  return text.substr(0, exponent) + (text[exponent + 1] == '-' ? "e-" : "e") + text.substr(digits);
}

/// As a float in TOML, which tells 1 from 1.0.
std::string written_float(double value) {
  const std::string text = shortest(value);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string range_text(const Allowed& allowed) {
  const std::string low = shortest(allowed.low);
  if (std::isfinite(allowed.high) && !allowed.low_itself)
    return fmt::format(" above {} and {} {}", low, allowed.high_itself ? "at most" : "below",
                       shortest(allowed.high));
  if (std::isfinite(allowed.high))
    return fmt::format(" from {} to {}{}", low, allowed.high_itself ? "" : "below ", shortest(allowed.high));
  return fmt::format(" {} {}", allowed.low_itself ? "of at least" : "above", low);
}

std::string join(const std::vector<std::string_view>& words) {
  std::string text(words.front());
  for (std::size_t i = 1; i < words.size(); ++i)
    text += fmt::format("{}{}", i + 1 < words.size() ? ", " : " or ", words[i]);
  return text;
}

bool in_range(const Allowed& allowed, double value) {
  return std::isfinite(value) && (allowed.low_itself ? value >= allowed.low : value > allowed.low) &&
         (allowed.high_itself ? value <= allowed.high : value < allowed.high);
}

/// As a string in TOML.
std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

bool is_free_text(const Allowed& allowed, const FieldValue& value) {
  return allowed.words.empty() && std::holds_alternative<std::string>(value);
}

bool admits(const Allowed& allowed, const FieldValue& value) {
  const auto fits = [&](double number) { return in_range(allowed, number); };
  return std::visit(
      Overloaded{
          [](bool) { return true; },
          [&](Index number) { return fits(static_cast<double>(number)); },
          // TOML has no larger integers.
          [&](std::uint64_t number) {
            return std::in_range<std::int64_t>(number) && fits(static_cast<double>(number));
          },
          [&](double number) { return fits(number); },
          [&](const std::array<double, 2>& pair) { return fits(pair[0]) && fits(pair[1]); },
          [&](const std::vector<Index>& list) {
            return list.size() <= kLongestList &&
                   std::ranges::all_of(list, [&](Index number) { return fits(static_cast<double>(number)); });
          },
          [&](const std::string& word) {
            return allowed.words.empty() ? is_printable(word) && word.size() <= kLongestText
                                         : std::ranges::find(allowed.words, word) != allowed.words.end();
          },
      },
      value);
}

std::string expected_text(const Allowed& allowed, const FieldValue& value) {
  return std::visit(
      Overloaded{
          [](bool) -> std::string { return "true or false"; },
          [&](Index) { return "an integer" + range_text(allowed); },
          [&](std::uint64_t) { return "an integer" + range_text(allowed); },
          [&](double) { return "a number" + range_text(allowed); },
          [&](const std::array<double, 2>&) { return "two numbers, each" + range_text(allowed); },
          [&](const std::vector<Index>&) {
            return fmt::format("a list of at most {} integers, each{}", kLongestList, range_text(allowed));
          },
          [&](const std::string&) -> std::string {
            return allowed.words.empty()
                       ? fmt::format("text in UTF-8, in quotes, of at most {} bytes", kLongestText)
                       : join(allowed.words);
          },
      },
      value);
}

std::string written(const FieldValue& value) {
  return std::visit(
      Overloaded{
          [](bool truth) -> std::string { return truth ? "true" : "false"; },
          [](Index number) { return std::to_string(number); },
          [](std::uint64_t number) { return std::to_string(number); },
          [](double number) { return written_float(number); },
          [](const std::array<double, 2>& pair) {
            return fmt::format("[{}, {}]", written_float(pair[0]), written_float(pair[1]));
          },
          [](const std::vector<Index>& list) { return fmt::format("[{}]", fmt::join(list, ", ")); },
          [](const std::string& word) { return toml_string(word); },
      },
      value);
}

}  // namespace tapehead
