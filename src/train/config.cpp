#include "tapehead/train/config.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "tapehead/base/require.h"
#include "tapehead/train/config_fields.h"
#include "tapehead/train/config_reader.h"
#include "tapehead/train/config_rules.h"
#include "tapehead/train/toml.h"

namespace tapehead {

namespace {

template <class... Args>
[[noreturn]] void fail(std::string_view place, fmt::format_string<Args...> message, Args&&... args) {
  throw UsageError(fmt::format("{} {}", place, fmt::format(message, std::forward<Args>(args)...)));
}

/// Points at the field that was overridden, else at the first that was given.
std::string place_of(const Rule& rule, const Places& places) {
  std::string place;
  for (const std::string& name : rule.fields)
    if (const auto given = places.find(name); given != places.end())
      if (place.empty() || (!place.starts_with("--set") && given->second.starts_with("--set")))
        place = given->second;
  return place.empty() ? "[config]" : place;
}

/// Throws UsageError for a field, called `name`, that holds what it may not.
template <class Owner>
void check_value(const Field<Owner>& field, const std::string& name, const Owner& owner) {
  if (const FieldValue value = field.get(owner); !field.admits(value))
    fail("[config]", "{}: expected {}, got {}", name, field.expected(), written(value));
}

void check(const Config& config, const Places& places) {
  for (const ConfigField& field : config_fields()) check_value(field, field.name(), config);
  for (std::size_t i = 0; i < config.interventions.size(); ++i)
    for (const InterventionField& field : intervention_fields())
      check_value(field, intervention_name(i, field.key), config.interventions[i]);
  for (const Rule& rule : rules_of(config)) {
    if (rule.holds) continue;
    std::string defaults;
    for (const std::string& name : rule.fields)
      if (!places.empty() && !places.contains(name)) defaults += fmt::format(" ({} is the default)", name);
    fail(place_of(rule, places), "{}: {}{}", rule.fields[0], rule.message, defaults);
  }
}

/// The words in lines of at most 100 columns, each begun by `start`.
std::string wrapped(std::string_view words, std::string_view start) {
  constexpr std::size_t kColumns = 100;
  std::string text;
  while (start.size() + words.size() > kColumns) {
    const std::size_t space = words.rfind(' ', kColumns - start.size());
    text += fmt::format("{}{}\n", start, words.substr(0, space));
    words.remove_prefix(space + 1);
  }
  return text + fmt::format("{}{}\n", start, words);
}

/// What `lines` makes of every field, under the headings of the tables.
std::string by_table(const std::function<std::string(const ConfigField&)>& lines) {
  std::string text;
  std::string_view table;
  for (const ConfigField& field : config_fields()) {
    if (field.table != table) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", field.table);
    table = field.table;
    text += lines(field);
  }
  return text;
}

}  // namespace

Config parse_config(std::string_view text, std::string_view name, std::span<const std::string> overrides) {
  Config config;
  Places places;
  read_config_text(text, name, config, places);
  for (const std::string& assignment : overrides) read_override(assignment, config, places);
  check(config, places);
  return config;
}

Config read_config(const std::filesystem::path& file, std::span<const std::string> overrides) {
  const std::string name = file.string();
  std::error_code code;
  const auto status = std::filesystem::status(file, code);
  if (!std::filesystem::exists(status)) fail(name + ":", "no such file");
  if (std::filesystem::is_directory(status)) fail(name + ":", "expected a TOML file, got a directory");
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMostTomlBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  const bool whole = stream.eof() || text.size() > kMostTomlBytes;
  if (stream.bad() || !whole) fail(name + ":", "cannot be read: {}", std::strerror(errno));
  return parse_config(text, name, overrides);
}

void validate(const Config& config) { check(config, {}); }

std::string to_toml(const Config& config) {
  validate(config);
  const auto line = [](const auto& field, const auto& owner) {
    return fmt::format("{} = {}\n", field.key, written(field.get(owner)));
  };
  std::string text = by_table(
      [&](const ConfigField& field) { return wrapped(field.documentation, "# ") + line(field, config); });
  for (const Intervention& intervention : config.interventions) {
    text += fmt::format("\n[[{}]]\n", kInterventionTable);
    for (const InterventionField& field : intervention_fields()) {
      if (&intervention == &config.interventions.front()) text += wrapped(field.documentation, "# ");
      text += line(field, intervention);
    }
  }
  return text;
}

std::string describe_fields() {
  const auto lines = [](const auto& field) {
    const std::string value = written(field.default_value());
    return wrapped(fmt::format("{}: {}; default {}", field.key, field.expected(), value), "  ") +
           wrapped(field.documentation, "      ");
  };
  std::string text = by_table(lines);
  text += fmt::format("\n[[{}]] (none, one or several)\n", kInterventionTable);
  for (const InterventionField& field : intervention_fields()) text += lines(field);
  return text;
}

}  // namespace tapehead
