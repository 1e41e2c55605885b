#include "tapehead/train/config_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "tapehead/base/nearest.h"
#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/text/utf8.h"
#include "tapehead/train/config_fields.h"
#include "tapehead/train/safe_toml.h"
#include "tapehead/train/toml.h"

namespace tapehead {

namespace {

template <class... Args>
[[noreturn]] void fail(std::string_view place, fmt::format_string<Args...> message, Args&&... args) {
  throw UsageError(fmt::format("{} {}", place, fmt::format(message, std::forward<Args>(args)...)));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\r"), text.size());
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
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
  } else if constexpr (std::is_same_v<T, std::vector<Index>>) {
    if (!node.is_array()) return std::nullopt;
    T list;
    for (const toml::node& element : *node.as_array()) {
      const std::optional<Index> number = value_of<Index>(element);
      if (!number) return std::nullopt;
      list.push_back(*number);
    }
    return list;
  } else {
    return node.value_exact<T>();
  }
}

/// Sets a field, which is called `name`, of `owner`.
template <class Owner>
void assign(const Field<Owner>& field, const std::string& name, const toml::node& node,
            const std::string& place, Owner& owner, Places& places) {
  const auto value = std::visit(
      [&]<class T>(const T&) -> std::optional<FieldValue> { return value_of<T>(node); }, field.get(owner));
  if (!value || !field.admits(*value)) {
    const auto* word = node.as_string();
    const bool misspelt = word && !field.allowed.words.empty();
    fail(place, "{}: expected {}, got {}{}", name, field.expected(), came(node),
         misspelt ? fmt::format("; the nearest is \"{}\"", nearest(word->get(), field.allowed.words)) : "");
  }
  field.set(owner, *value);
  places[name] = place;
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
  if (!table.empty() && !is_table_name(table)) {
    tables.push_back(kInterventionTable);
    const std::string_view meant = nearest(table, tables);
    fail(place, "unknown table [{}]; the nearest is {}", shown(table),
         meant == kInterventionTable ? "[[intervention]]" : fmt::format("[{}]", meant));
  }
  const ConfigField& meant = **std::ranges::find(candidates, nearest(key, keys),
                                                 [](const ConfigField* field) { return field->key; });
  const std::string hint = meant.key == key ? fmt::format("it belongs in [{}]", meant.table)
                                            : fmt::format("the nearest is {}", meant.name());
  if (table.empty() && is_table_name(key))
    fail(place, "{} is a table: give its fields one by one, as {}.key=value", key, key);
  if (table.empty()) fail(place, "{} stands in no table; {}", shown(key), hint);
  fail(place, "unknown key {}.{}; {}", shown(table), shown(key), hint);
}

const InterventionField& find_intervention_field(std::string_view key, std::string_view place) {
  std::vector<std::string_view> keys;
  for (const InterventionField& field : intervention_fields()) {
    if (field.key == key) return field;
    keys.push_back(field.key);
  }
  fail(place, "unknown key {0}.{1}; the nearest is {0}.{2}", kInterventionTable, shown(key),
       nearest(key, keys));
}

/// A value of the file, and the table and key it stands under; an empty table is the top of the file.
struct Entry {
  std::string_view table;
  const toml::key* key;
  const toml::node* node;
  std::size_t index = 0;  ///< of several tables of one name
};

void add_entries(std::string_view table, const toml::table& node, std::size_t index,
                 std::vector<Entry>& entries) {
  for (auto&& [key, value] : node) entries.push_back({table, &key, &value, index});
}

/// The entries of all interventions. Throws UsageError unless they are tables, each in double brackets.
void add_interventions(const toml::node& node, const std::string& place, std::vector<Entry>& entries) {
  const toml::array* list = node.as_array();
  if (list == nullptr)
    fail(place, "expected a list of tables, each [[{}]] in double brackets, got {}", kInterventionTable,
         came(node));
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (!(*list)[i].is_table())
      fail(place, "{}[{}]: expected a table, got {}", kInterventionTable, i, came((*list)[i]));
    add_entries(kInterventionTable, *(*list)[i].as_table(), i, entries);
  }
}

/// Makes the interventions as many as the list has, to be filled in; `place_of` tells where each stands.
template <class PlaceOf>
void begin_interventions(const toml::node& node, const PlaceOf& place_of, Config& config, Places& places) {
  std::erase_if(places, [](const auto& place) { return place.first.starts_with(kInterventionTable); });
  const toml::array& list = *node.as_array();
  config.interventions.assign(list.size(), Intervention{});
  for (std::size_t i = 0; i < list.size(); ++i) places[intervention_name(i)] = place_of(list[i]);
}

void read_entry(const Entry& entry, const std::string& key_place, const std::string& place, Config& config,
                Places& places) {
  const std::string_view key = entry.key->str();
  if (entry.table == kInterventionTable) {
    const InterventionField& field = find_intervention_field(key, key_place);
    assign(field, intervention_name(entry.index, key), *entry.node, place, config.interventions[entry.index],
           places);
    return;
  }
  if (entry.table.empty() && is_table_name(key))
    fail(key_place, "expected a table [{}], got {}", key, came(*entry.node));
  const bool unknown_table =
      entry.table.empty() && (entry.node->is_table() || entry.node->is_array_of_tables());
  const ConfigField& field =
      unknown_table ? find_field(key, "", key_place) : find_field(entry.table, key, key_place);
  assign(field, field.name(), *entry.node, place, config, places);
}

/// The value of an override: TOML, or, for a field that holds a string, the text as it stands.
/// `wanted` is what an error says was expected.
toml::table parse_value(bool free_text, std::string_view text, const std::string& place,
                        const std::string& wanted) {
  const bool quoted = !text.empty() && (text.front() == '"' || text.front() == '\'');
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  constexpr std::string_view kFurther = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
  const bool word =
      text.find_first_of(kLetters) == 0 && text.find_first_not_of(kFurther) == std::string_view::npos;
  const bool as_it_stands =
      free_text ? !quoted : word && text != "true" && text != "false" && text != "inf" && text != "nan";
  if (as_it_stands) return toml::table{{"value", text}};
  try {
    toml::table parsed =
        toml::parse("value = " + safe_toml(text, std::string_view(place).substr(0, place.size() - 1)));
    if (parsed.size() != 1) fail(place, "{}, got more than one value", wanted);
    return parsed;
  } catch (const toml::parse_error& error) {
    if (text.empty()) fail(place, "{}, got nothing", wanted);
    fail(place, "{}, got what is no value of TOML: {}", wanted, error.description());
  }
}

/// `interventions=[...]`, all of them.
void override_interventions(std::string_view text, const std::string& place, Config& config, Places& places) {
  std::vector<Entry> entries;
  const toml::table parsed = parse_value(false, text, place, "expected a list of tables");
  add_interventions(*parsed.get("value"), place, entries);
  begin_interventions(
      *parsed.get("value"), [&](const toml::node&) { return place; }, config, places);
  for (const Entry& entry : entries) read_entry(entry, place, place, config, places);
}

}  // namespace

void read_config_text(std::string_view text, std::string_view name, Config& config, Places& places) {
  const toml::table root = parse_toml(text, name);
  std::vector<Entry> entries;
  for (auto&& [key, node] : root) {
    if (key.str() == kInterventionTable) {
      add_interventions(node, toml_position(name, key.source().begin), entries);
      const auto place_of = [&](const toml::node& one) { return toml_position(name, one.source().begin); };
      begin_interventions(node, place_of, config, places);
    } else if (is_table_name(key.str()) && node.is_table()) {
      add_entries(key.str(), *node.as_table(), 0, entries);
    } else {
      entries.push_back({"", &key, &node});
    }
  }
  // Of several mistakes the first is told.
  std::ranges::sort(entries, {}, [](const Entry& entry) { return entry.key->source().begin; });
  for (const Entry& entry : entries)
    read_entry(entry, toml_position(name, entry.key->source().begin),
               toml_position(name, entry.node->source().begin), config, places);
}

std::string_view override_name(std::string_view text) { return trimmed(text.substr(0, text.find('='))); }

void read_override(std::string_view text, Config& config, Places& places) {
  const std::string place = fmt::format("--set {}:", text);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) fail(place, "expected table.key=value");
  const std::string_view name = override_name(text);
  const std::string_view value_text = trimmed(text.substr(equals + 1));
  if (name == kInterventionTable) return override_interventions(value_text, place, config, places);
  const std::size_t dot = name.find('.');
  const std::string_view table = dot == std::string_view::npos ? "" : name.substr(0, dot);
  const std::string_view key = dot == std::string_view::npos ? name : name.substr(dot + 1);
  if (table == kInterventionTable)
    fail(place, "interventions are set all at once: --set '{}=[{{site = \"...\", kind = \"zero\"}}]'",
         kInterventionTable);
  const ConfigField& field = find_field(table, key, place);
  const toml::table value = parse_value(field.is_free_text(), value_text, place,
                                        fmt::format("{}: expected {}", field.name(), field.expected()));
  assign(field, field.name(), *value.get("value"), place, config, places);
}

}  // namespace tapehead
