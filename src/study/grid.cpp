#include "tapehead/study/grid.h"

#include <algorithm>
#include <cctype>

#include "tapehead/base/nearest.h"
#include "tapehead/base/require.h"
#include "tapehead/train/config_fields.h"
#include "tapehead/train/config_reader.h"

namespace tapehead {

namespace {

/// Parts at commas, but for those within brackets or quotes.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (const char c : list) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += c;
  }
  for (std::string& part : parts) {
    part.erase(0, std::min(part.find_first_not_of(" \t"), part.size()));
    part.erase(part.find_last_not_of(" \t") + 1);
  }
  return parts;
}

void require_field(std::string_view field, std::string_view text) {
  std::vector<std::string> names;
  for (const ConfigField& one : config_fields()) names.push_back(one.name());
  if (std::ranges::find(names, field) != names.end()) return;
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  throw UsageError(
      fmt::format("--grid {}: no field {}; the nearest is {}", text, field, nearest(field, candidates)));
}

/// Whether a key alone could be another axis' too.
bool is_shared(const GridPoint& point, std::string_view key) {
  return std::ranges::count(point, key, &GridValue::key) > 1;
}

}  // namespace

GridAxis read_axis(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    throw UsageError(fmt::format("--grid {}: expected table.key=value,value,...", text));
  GridAxis axis{std::string(override_name(text)), parts_of(text.substr(equals + 1))};
  require_field(axis.field, text);
  for (auto value = axis.values.begin(); value != axis.values.end(); ++value) {
    if (value->empty()) throw UsageError(fmt::format("--grid {}: a value is missing", text));
    if (value->find_first_of("\n\r\t#") != std::string::npos)
      throw UsageError(fmt::format("--grid {}: a value holds a line break, a tab or a comment", axis.field));
    if (std::find(axis.values.begin(), value, *value) != value)
      throw UsageError(fmt::format("--grid {}: the value {} comes twice", text, *value));
  }
  return axis;
}

std::vector<GridPoint> grid_points(std::span<const GridAxis> axes, std::size_t most) {
  std::vector<GridPoint> points(1);
  for (const GridAxis& axis : axes) {
    if (std::ranges::count(axes, axis.field, &GridAxis::field) > 1)
      throw UsageError(fmt::format("--grid: {} is swept twice", axis.field));
    if (points.size() * axis.values.size() > most)
      throw UsageError(fmt::format("--grid: expected at most {} settings, got more", most));
    std::vector<GridPoint> longer;
    for (const GridPoint& point : points)
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().push_back({axis.field, value});
      }
    points = std::move(longer);
  }
  return points;
}

std::string folder_name(const GridPoint& point) {
  std::string name;
  for (const GridValue& value : point) {
    const std::string_view key = value.key();
    name += fmt::format("{}{}={}", name.empty() ? "" : "_", is_shared(point, key) ? value.field : key,
                        table_cell(value));
  }
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        std::string_view("._=+-").find(c) == std::string_view::npos)
      c = '-';
  return name;
}

std::string in_words(const GridPoint& point) {
  std::string words;
  for (const GridValue& value : point)
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ",
                         is_shared(point, value.key()) ? value.field : value.key(), value.value);
  return words;
}

std::string table_cell(const GridValue& value) {
  std::string cell = value.value;
  std::erase_if(cell, [](char c) { return c == '"' || c == '\''; });
  std::ranges::replace(cell, ',', ' ');
  return cell;
}

std::string table_cell(const GridPoint& point) {
  std::string cell;
  for (const GridValue& value : point)
    cell += fmt::format("{}{}={}", cell.empty() ? "" : " ", value.field, table_cell(value));
  return cell;
}

}  // namespace tapehead
