#include "tapehead/study/table_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tapehead {

namespace {

bool agree(const std::string& a, const std::string& b, double tolerance) {
  if (a == b || tolerance == 0) return a == b;
  const auto x = number_in(a);
  const auto y = number_in(b);
  return x && y && std::abs(*x - *y) <= tolerance * std::max({1.0, std::abs(*x), std::abs(*y)});
}

/// What tells a row from the others: the cells before the first column that is no name or whole number.
std::string row_name(const CsvTable& table, Index row) {
  std::string name;
  for (const std::string& column : table.columns()) {
    const std::string& cell = table.cell(row, column);
    if (cell.empty() || cell.find('.') != std::string::npos) break;
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", column, cell);
  }
  return fmt::format("row {}{}", row + 1, name.empty() ? "" : " (" + name + ")");
}

}  // namespace

Comparison compare(const CsvTable& stands, const CsvTable& recomputed, double tolerance,
                   const std::vector<std::string>& ignored, Index first_row) {
  Comparison result;
  const Index rows = std::min(stands.rows(), recomputed.rows());
  for (const std::string& column : recomputed.columns())
    if (!stands.has(column)) result.differences.push_back({"column " + column, "", "there"});
  for (const std::string& column : stands.columns())
    if (!recomputed.has(column)) result.differences.push_back({"column " + column, "there", ""});
  for (Index row = first_row; row < rows; ++row)
    for (const std::string& column : stands.columns()) {
      if (!recomputed.has(column) || std::ranges::find(ignored, column) != ignored.end()) continue;
      ++result.cells;
      const std::string& there = stands.cell(row, column);
      const std::string& now = recomputed.cell(row, column);
      if (!agree(there, now, tolerance))
        result.differences.push_back({row_name(stands, row) + ", " + column, there, now});
    }
  if (stands.rows() != recomputed.rows())
    result.differences.push_back(
        {"number of rows", std::to_string(stands.rows()), std::to_string(recomputed.rows())});
  return result;
}

}  // namespace tapehead
