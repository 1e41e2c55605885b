#include "tapehead/report/drawable_table.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "tapehead/base/require.h"
#include "tapehead/train/run_tables.h"

namespace tapehead {

namespace {

/// Beyond it the arithmetic of axes overflows.
constexpr double kLargest = 1e300;

}  // namespace

CsvTable drawable(CsvTable table) {
  for (const std::string& column : table.columns())
    for (Index row = 0; row < table.rows(); ++row) {
      const std::string& cell = table.cell(row, column);
      double value = 0;  // of a cell that is a number
      std::from_chars(cell.data(), cell.data() + cell.size(), value);
      require(!std::isfinite(value) || std::abs(value) <= kLargest,
              "[figures] expected numbers that can be drawn, got {} as {} in row {} of {}", cell, column,
              row + 1, table.file().string());
    }
  return table;
}

CsvTable drawable_metrics(const RunDirectory& run) { return drawable(whole_metrics(run)); }

}  // namespace tapehead
