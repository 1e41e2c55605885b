#include "tapehead/train/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "tapehead/base/file.h"
#include "tapehead/base/nearest.h"
#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

std::string joined(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (&cell != &cells.front()) line += ',';
    line += cell;
  }
  line += '\n';
  return line;
}

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> cells;
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.emplace_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

constexpr std::string_view kTag = "csv";

}  // namespace

std::string csv_cell(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; }

std::optional<double> number_in(std::string_view cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

CsvTable CsvTable::read(const std::filesystem::path& file) {
  return parse(MappedFile(file, kTag).bytes(), file);
}

CsvTable CsvTable::parse(std::string_view text, const std::filesystem::path& file) {
  // What follows the last line's end was being written when its program died.
  text = text.substr(0, text.rfind('\n') + 1);
  const auto next_line = [&] {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    return line;
  };
  require(!text.empty() && text.front() != '\n', "[csv] cannot read a header line from {}", file.string());
  CsvTable table(split(next_line()));
  table.file_ = file;
  for (int number = 2; !text.empty(); ++number) {
    std::vector<std::string> row = split(next_line());
    require(row.size() == table.columns_.size(), "[csv] {}:{}: expected {} cells, got {}", file.string(),
            number, table.columns_.size(), row.size());
    table.rows_.push_back(std::move(row));
  }
  return table;
}

void CsvTable::add(std::vector<std::string> row) {
  require(row.size() == columns_.size(), "[csv] expected {} cells, got {}", columns_.size(), row.size());
  for (const std::string& cell : row)
    require(cell.find_first_of(",\"\r\n") == std::string::npos, "[csv] a cell cannot hold {}", cell);
  rows_.push_back(std::move(row));
}

void CsvTable::write(const std::filesystem::path& file) const { replace_file(file, text(), kTag); }

std::string CsvTable::text() const { return joined(columns_) + lines(); }

void CsvTable::append_to(const std::filesystem::path& file) const {
  const bool is_new = !std::filesystem::exists(file);
  append_to_file(file, (is_new ? joined(columns_) : "") + lines(), kTag);
}

std::string CsvTable::lines() const {
  std::string text;
  for (const std::vector<std::string>& row : rows_) text += joined(row);
  return text;
}

bool CsvTable::has(std::string_view column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

const std::string& CsvTable::cell(Index row, std::string_view column) const {
  require(row >= 0 && row < rows(), "{} no row {} of {}", place(), row, rows());
  return rows_[static_cast<std::size_t>(row)][index_of(column)];
}

std::vector<double> CsvTable::numbers(std::string_view column) const {
  std::vector<double> values;
  for (Index row = 0; row < rows(); ++row) values.push_back(number(row, column));
  return values;
}

double CsvTable::number(Index row, std::string_view column) const {
  const std::string& text = cell(row, column);
  if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::optional<double> value = number_in(text);
  require(value.has_value(), "{} expected a number in column {} of row {}, got {}", place(), column, row + 1,
          quoted_name(text));
  return *value;
}

Index CsvTable::whole_number(Index row, std::string_view column) const {
  constexpr double kLargest = 1e15;
  const double value = number(row, column);
  require(value >= 0 && value <= kLargest && value == std::floor(value),
          "{} expected a whole number in column {} of row {}, got {}", place(), column, row + 1,
          quoted_name(cell(row, column)));
  return static_cast<Index>(value);
}

void CsvTable::drop_above(std::string_view column, double limit) {
  const std::vector<double> values = numbers(column);
  std::vector<std::vector<std::string>> kept;
  for (std::size_t row = 0; row < rows_.size(); ++row)
    if (!(values[row] > limit)) kept.push_back(std::move(rows_[row]));
  rows_ = std::move(kept);
}

std::size_t CsvTable::index_of(std::string_view column) const {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i] == column) return i;
  const std::vector<std::string_view> names(columns_.begin(), columns_.end());
  throw Error(fmt::format("{} no column {}; the nearest is {}", place(), column,
                          quoted_name(nearest(column, names))));
}

std::string CsvTable::place() const {
  return file_.empty() ? "[csv]" : fmt::format("[csv] {}:", file_.string());
}

}  // namespace tapehead
