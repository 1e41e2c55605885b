/// Tables for people: columns aligned, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace tapehead::app {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> columns) : rows_{std::move(columns)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// The whole table, each line ended. Columns whose cells are all numbers are aligned to the right.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A number to `digits` decimals, or "-" where there is none (NaN).
std::string decimals(double value, int digits);
/// The same with its sign.
std::string signed_decimals(double value, int digits);
/// A count with its thousands set apart: "2,362,368".
std::string grouped(long long count);
/// "1:05", or "1:00:05" from an hour on
std::string clock_time(double seconds);
/// "1.50 MiB"
std::string mebibytes(long long bytes);

}  // namespace tapehead::app
