#include "tapehead/report/band.h"

#include "support/testing.h"

using namespace tapehead;

namespace {

/// A table of one column over the steps given.
CsvTable table_of(const std::vector<std::pair<int, const char*>>& rows) {
  CsvTable table({"step", "tokens", "loss"});
  for (const auto& [step, loss] : rows) table.add({std::to_string(step), std::to_string(step), loss});
  return table;
}

}  // namespace

TEST_CASE("a band has the quartiles at the steps at which every run that has the column has a value") {
  const std::vector<CsvTable> runs{
      table_of({{0, "5"}, {10, "4"}, {20, "3"}, {30, "1"}}), table_of({{0, "7"}, {20, "5"}, {30, ""}}),
      table_of({{0, "9"}, {10, "8"}, {20, "9"}, {30, "2"}}), table_of({{0, ""}})};
  const Band band = band_of(runs, "loss");
  CHECK(band.steps == std::vector<double>{0, 20});
  CHECK(band.lower == std::vector<double>{6, 4});
  CHECK(band.median == std::vector<double>{7, 5});
  CHECK(band.upper == std::vector<double>{8, 7});
  CHECK(band_of(runs, "loss_noise").steps.empty());
}

TEST_CASE("a single step that all runs share is a band to draw where the runs have no more") {
  const std::vector<CsvTable> going_on{table_of({{0, "5"}, {10, "4"}}), table_of({{0, "7"}, {3, "5"}})};
  CHECK(band_of(going_on, "loss").steps == std::vector<double>{0});
  CHECK(drawn_band(going_on, "loss").steps.empty());
  const std::vector<CsvTable> begun{table_of({{0, "5"}}), table_of({{0, "7"}})};
  CHECK(drawn_band(begun, "loss").median == std::vector<double>{6});
}
