#include "tapehead/train/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tapehead/base/nearest.h"
#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/text/utf8.h"
#include "tapehead/train/config_fields.h"
#include "tapehead/train/config_rules.h"
#include "tapehead/train/safe_toml.h"

// With NDEBUG toml++ 3.3 hands its assertions to the optimiser as facts, though a file such as "[" breaks
// them; without, it aborts. Here they are neither.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace tapehead {

namespace {

/// Far more than any config has. What toml++ makes of a file can be more than a hundred times as large, and
/// it destroys nested tables by recursion, for which a file of 80 KB is too deep.
constexpr std::size_t kMostBytes = 16 * 1024;

/// Where each field that was given came from, by its name: "configs/x.toml:12:3:" or "--set model.layers=3:".
using Places = std::map<std::string, std::string>;

template <class... Args>
[[noreturn]] void fail(std::string_view place, fmt::format_string<Args...> message, Args&&... args) {
  throw UsageError(fmt::format("{} {}", place, fmt::format(message, std::forward<Args>(args)...)));
}

std::string position(std::string_view name, const toml::source_position& at) {
  return fmt::format("{}:{}:{}:", name, at.line, at.column);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\r"), text.size());
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

std::string_view line_of(std::string_view text, toml::source_index line) {
  for (; line > 1; --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return trimmed(text.substr(0, text.find('\n')));
}

toml::table parse_file_text(std::string_view text, std::string_view name) {
  if (text.size() > kMostBytes)
    fail(fmt::format("{}:", name), "expected a config of at most {} bytes", kMostBytes);
  const std::string safe = safe_toml(text, name);
  try {
    return toml::parse(std::string_view(safe));
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    fail(position(name, at), "{}, in: {}", error.description(), line_of(safe, at.line));
  }
}

/// A name from the file, fit to be shown.
std::string shown(std::string_view name) {
  return is_printable(name) ? std::string(name) : quoted_name(name);
}

/// What stands in the file, in words.
std::string came(const toml::node& node) {
  if (const auto* text = node.as_string())
    return "the string " + (is_printable(text->get()) ? '"' + text->get() + '"' : quoted_name(text->get()));
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* number = node.as_floating_point()) return written(number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (node.is_table()) return "a table";
  if (!node.is_array()) return "a date or time";
  std::string elements;
  for (const toml::node& element : *node.as_array())
    elements += (elements.empty() ? "" : ", ") + came(element);
  return fmt::format("[{}]", elements);
}

template <class T>
std::optional<T> value_of(const toml::node& node) {
  if constexpr (std::is_same_v<T, Index>) {
    const std::optional<double> number = node.value_exact<double>();
    const bool integral = number && *number == std::trunc(*number) && std::abs(*number) < 0x1p63;
    return integral ? static_cast<Index>(*number) : node.value_exact<Index>();
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    const std::optional<Index> number = value_of<Index>(node);
    return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
  } else if constexpr (std::is_same_v<T, double>) {
    const std::optional<Index> integer = node.value_exact<Index>();
    return integer ? static_cast<double>(*integer) : node.value_exact<double>();
  } else if constexpr (std::is_same_v<T, std::array<double, 2>>) {
    if (!node.is_array() || node.as_array()->size() != 2) return std::nullopt;
    const auto first = value_of<double>((*node.as_array())[0]);
    const auto second = value_of<double>((*node.as_array())[1]);
    return first && second ? std::optional(T{*first, *second}) : std::nullopt;
  } else {
    return node.value_exact<T>();
  }
}

void assign(const ConfigField& field, const toml::node& node, const std::string& place, Config& config,
            Places& places) {
  const auto value = std::visit(
      [&]<class T>(const T&) -> std::optional<FieldValue> { return value_of<T>(node); }, field.get(config));
  if (!value || !field.admits(*value)) {
    const auto* word = node.as_string();
    const bool misspelt = word && !field.allowed.words.empty();
    fail(place, "{}: expected {}, got {}{}", field.name(), field.expected(), came(node),
         misspelt ? fmt::format("; the nearest is \"{}\"", nearest(word->get(), field.allowed.words)) : "");
  }
  field.set(config, *value);
  places[field.name()] = place;
}

bool is_table_name(std::string_view name) {
  return std::ranges::find(config_fields(), name, &ConfigField::table) != config_fields().end();
}

/// The field of that table and key; an empty table is the top of the file.
const ConfigField& find_field(std::string_view table, std::string_view key, std::string_view place) {
  std::vector<const ConfigField*> candidates;
  for (const ConfigField& field : config_fields()) candidates.push_back(&field);
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](const ConfigField* field) { return field->table == table; });
  std::vector<std::string_view> tables, keys;
  for (const ConfigField* field : candidates) {
    if (field->table == table && field->key == key) return *field;
    tables.push_back(field->table);
    keys.push_back(field->key);
  }
  if (!table.empty() && !is_table_name(table))
    fail(place, "unknown table [{}]; the nearest is [{}]", shown(table), nearest(table, tables));
  const ConfigField& meant = **std::ranges::find(candidates, nearest(key, keys),
                                                 [](const ConfigField* field) { return field->key; });
  const std::string hint = meant.key == key ? fmt::format("it belongs in [{}]", meant.table)
                                            : fmt::format("the nearest is {}", meant.name());
  if (table.empty()) fail(place, "{} stands in no table; {}", shown(key), hint);
  fail(place, "unknown key {}.{}; {}", shown(table), shown(key), hint);
}

/// Takes over a parsed file, in the order of its lines.
void read_tables(const toml::table& root, std::string_view name, Config& config, Places& places) {
  struct Entry {
    std::string_view table;
    const toml::key* key;
    const toml::node* node;
  };
  std::vector<Entry> entries;
  for (auto&& [key, node] : root) {
    if (!is_table_name(key.str()) || !node.is_table())
      entries.push_back({"", &key, &node});
    else
      for (auto&& [inner_key, inner_node] : *node.as_table())
        entries.push_back({key.str(), &inner_key, &inner_node});
  }
  std::ranges::sort(entries, {}, [](const Entry& entry) { return entry.key->source().begin; });
  for (const Entry& entry : entries) {
    const std::string place = position(name, entry.key->source().begin);
    const std::string_view key = entry.key->str();
    if (entry.table.empty() && is_table_name(key))
      fail(place, "expected a table [{}], got {}", key, came(*entry.node));
    const bool unknown_table =
        entry.table.empty() && (entry.node->is_table() || entry.node->is_array_of_tables());
    const ConfigField& field =
        unknown_table ? find_field(key, "", place) : find_field(entry.table, key, place);
    assign(field, *entry.node, position(name, entry.node->source().begin), config, places);
  }
}

/// The value of an override: TOML, or, for a field that holds a string, the text as it stands.
toml::table parse_value(const ConfigField& field, std::string_view text, const std::string& place) {
  const bool quoted = !text.empty() && (text.front() == '"' || text.front() == '\'');
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  constexpr std::string_view kFurther = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
  const bool word =
      text.find_first_of(kLetters) == 0 && text.find_first_not_of(kFurther) == std::string_view::npos;
  const bool as_it_stands = field.is_free_text()
                                ? !quoted
                                : word && text != "true" && text != "false" && text != "inf" && text != "nan";
  if (as_it_stands) return toml::table{{"value", text}};
  try {
    toml::table parsed =
        toml::parse("value = " + safe_toml(text, std::string_view(place).substr(0, place.size() - 1)));
    if (parsed.size() != 1) fail(place, "expected one value");
    return parsed;
  } catch (const toml::parse_error& error) {
    fail(place, "{}", error.description());
  }
}

void apply_override(std::string_view text, Config& config, Places& places) {
  const std::string place = fmt::format("--set {}:", text);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) fail(place, "expected table.key=value");
  const std::string_view name = trimmed(text.substr(0, equals));
  const std::size_t dot = name.find('.');
  const std::string_view table = dot == std::string_view::npos ? "" : name.substr(0, dot);
  const std::string_view key = dot == std::string_view::npos ? name : name.substr(dot + 1);
  const ConfigField& field = find_field(table, key, place);
  const toml::table value = parse_value(field, trimmed(text.substr(equals + 1)), place);
  assign(field, *value.get("value"), place, config, places);
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

void check(const Config& config, const Places& places) {
  for (const ConfigField& field : config_fields())
    if (const FieldValue value = field.get(config); !field.admits(value))
      fail("[config]", "{}: expected {}, got {}", field.name(), field.expected(), written(value));
  for (const Rule& rule : rules_of(config)) {
    if (rule.holds) continue;
    std::string defaults;
    for (const std::string& name : rule.fields)
      if (!places.empty() && !places.contains(name)) defaults += fmt::format(" ({} is the default)", name);
    fail(place_of(rule, places), "{}: {}{}", rule.fields[0], rule.message, defaults);
  }
}

}  // namespace

Config parse_config(std::string_view text, std::string_view name, std::span<const std::string> overrides) {
  Config config;
  Places places;
  read_tables(parse_file_text(text, name), name, config, places);
  for (const std::string& assignment : overrides) apply_override(assignment, config, places);
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
  std::string text(kMostBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  const bool whole = stream.eof() || text.size() > kMostBytes;
  if (stream.bad() || !whole) fail(name + ":", "cannot be read: {}", std::strerror(errno));
  return parse_config(text, name, overrides);
}

void validate(const Config& config) { check(config, {}); }

}  // namespace tapehead
