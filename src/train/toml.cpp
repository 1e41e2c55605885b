#include "tapehead/train/toml.h"

#include <fmt/format.h>

#include <algorithm>

#include "tapehead/base/require.h"
#include "tapehead/train/safe_toml.h"

namespace tapehead {

namespace {

std::string_view line_of(std::string_view text, toml::source_index line) {
  for (; line > 1; --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, text.find('\n'));
  const std::size_t first = std::min(text.find_first_not_of(" \t\r"), text.size());
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace

std::string toml_position(std::string_view name, const toml::source_position& at) {
  return fmt::format("{}:{}:{}:", name, at.line, at.column);
}

toml::table parse_toml(std::string_view text, std::string_view name) {
  if (text.size() > kMostTomlBytes)
    throw UsageError(fmt::format("{}: expected a config of at most {} bytes", name, kMostTomlBytes));
  const std::string safe = safe_toml(text, name);
  try {
    return toml::parse(std::string_view(safe));
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    throw UsageError(
        fmt::format("{} {}, in: {}", toml_position(name, at), error.description(), line_of(safe, at.line)));
  }
}

}  // namespace tapehead
