/// Tidy tables in CSV, as pandas and gnuplot read them: one header line, commas, no quotes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead {

/// A number as a cell: six significant digits, empty for NaN and infinity.
std::string csv_cell(double value);
/// A whole cell as a finite number; nothing for an empty one and for any other text, "nan" and "inf" among
/// it.
std::optional<double> number_in(std::string_view cell);

class CsvTable {
 public:
  explicit CsvTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  /// A last line without an end, which a program that died leaves, is passed over. Throws Error, naming file
  /// and line, for a missing file, a file without a header, and a row of another length.
  static CsvTable read(const std::filesystem::path& file);
  /// The same from the text of such a file; `name` stands for it in errors.
  static CsvTable parse(std::string_view text, const std::filesystem::path& name);

  /// Throws Error unless there is one cell for each column, without commas, quotes and line ends.
  void add(std::vector<std::string> row);
  /// Replaces `file` by this table, whole or not at all. Throws Error if the disk refuses.
  void write(const std::filesystem::path& file) const;
  /// The file's text: the header line, and a line a row.
  std::string text() const;
  /// Adds the rows at the end of `file`, with the header if the file is new; all of them or, where the disk
  /// refuses with an Error, none.
  void append_to(const std::filesystem::path& file) const;

  Index rows() const { return static_cast<Index>(rows_.size()); }
  const std::vector<std::string>& columns() const { return columns_; }
  /// That it was read from; empty for another.
  const std::filesystem::path& file() const { return file_; }
  bool has(std::string_view column) const;
  /// Throws Error, with the nearest name and the file it was read from, for a column that is not there.
  const std::string& cell(Index row, std::string_view column) const;
  /// A column as numbers; an empty cell is NaN. Throws Error for any other text.
  std::vector<double> numbers(std::string_view column) const;
  double number(Index row, std::string_view column) const;
  /// A cell as a whole number from 0 to 10^15. Throws Error for any other.
  Index whole_number(Index row, std::string_view column) const;
  /// Drops the rows whose number in `column` is above `limit`.
  void drop_above(std::string_view column, double limit);

  /// The same columns and rows, wherever they come from.
  friend bool operator==(const CsvTable& a, const CsvTable& b) {
    return a.columns_ == b.columns_ && a.rows_ == b.rows_;
  }

 private:
  std::size_t index_of(std::string_view column) const;
  std::string lines() const;

  /// "[csv] runs/a/metrics.csv:" or, of no file, "[csv]": how a message begins.
  std::string place() const;

  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::filesystem::path file_;
};

}  // namespace tapehead
