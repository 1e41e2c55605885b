#include "tapehead/report/band.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tapehead/study/censored.h"

namespace tapehead {

std::ptrdiff_t values_in(const CsvTable& run, std::string_view column) {
  if (!run.has(column)) return 0;
  return std::ranges::count_if(run.numbers(column), [](double value) { return std::isfinite(value); });
}

Band band_of(std::span<const CsvTable> runs, std::string_view column) {
  std::map<double, std::vector<Censored>> values;
  std::size_t with_values = 0;
  for (const CsvTable& run : runs) {
    if (values_in(run, column) == 0) continue;
    ++with_values;
    for (Index row = 0; row < run.rows(); ++row)
      if (const double value = run.number(row, column); std::isfinite(value))
        values[run.number(row, "step")].push_back({value});
  }
  Band band;
  for (const auto& [step, of_runs] : values) {
    if (of_runs.size() < with_values) continue;
    band.steps.push_back(step);
    band.lower.push_back(*quantile(of_runs, 0.25).value);
    band.median.push_back(*quantile(of_runs, 0.5).value);
    band.upper.push_back(*quantile(of_runs, 0.75).value);
  }
  return band;
}

Band drawn_band(std::span<const CsvTable> runs, std::string_view column) {
  Band band = band_of(runs, column);
  const bool is_moment = band.steps.size() == 1 && std::ranges::any_of(runs, [&](const CsvTable& run) {
                           return values_in(run, column) > 1;
                         });
  return is_moment ? Band{} : band;
}

}  // namespace tapehead
