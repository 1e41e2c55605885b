/// Several runs as one: the quartiles of a value over them, evaluation by evaluation.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tapehead/train/csv.h"

namespace tapehead {

struct Band {
  std::vector<double> steps;
  std::vector<double> lower;  ///< quartile
  std::vector<double> median;
  std::vector<double> upper;  ///< quartile
};

/// How many evaluations of a run, a table of metrics, have a value in the column.
std::ptrdiff_t values_in(const CsvTable& run, std::string_view column);

/// Quartiles of a column of metrics tables, at the steps at which every run that has the column has a value;
/// no steps where none has.
Band band_of(std::span<const CsvTable> runs, std::string_view column);

/// The same to be drawn: no steps either where the runs, which go on, share a single one.
Band drawn_band(std::span<const CsvTable> runs, std::string_view column);

}  // namespace tapehead
