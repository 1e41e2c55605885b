#include "tapehead/report/sweep_curves_figure.h"

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

CsvTable run_of(double accuracy, double loss, bool has_accuracy = true) {
  CsvTable table(has_accuracy ? std::vector<std::string>{"step", "loss", "accuracy_induction"}
                              : std::vector<std::string>{"step", "loss"});
  for (const int step : {0, 100, 200}) {
    std::vector<std::string> row{std::to_string(step), csv_cell(loss)};
    if (has_accuracy) row.push_back(csv_cell(accuracy));
    table.add(row);
  }
  return table;
}

}  // namespace

TEST_CASE("curves of sweeps are the medians of each, in its colour, between its quartiles") {
  const std::vector<RunsOfSweep> sweeps{{"one", {run_of(0.1, 4), run_of(0.2, 3), run_of(0.6, 2)}},
                                        {"two", {run_of(0.9, 1)}}};
  const Figure figure = sweep_curves_figure(sweeps, "what differs");
  const std::string& script = figure.script.text();
  // Step, lower quartile, median, upper quartile.
  CHECK(contains(script, "100 0.15000000000000002 0.2 0.4 \n"));
  CHECK(contains(script, "100 2.5 3 3.5 \n"));
  CHECK(contains(script, "100 0.9 0.9 0.9 \n"));
  const std::string svg = svg_of(figure);
  for (const std::string text :
       {"Learning curves of 2 sweeps", "what differs", "— one", "— two", "accuracy", "loss (nats)"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  CHECK(contains(script, "textcolor rgb '#0072b2'"));
  CHECK(contains(script, "textcolor rgb '#d55e00'"));
}

TEST_CASE("a seventh sweep has the first one's colour and another dash") {
  std::vector<RunsOfSweep> sweeps;
  for (int i = 0; i < 7; ++i) sweeps.push_back({std::to_string(i), {run_of(0.5, 3)}});
  const Figure figure = sweep_curves_figure(sweeps, "");
  CHECK(contains(figure.script.text(),
                 "$loss6 using 1:(1*$3) with lines linewidth 2.2 dashtype 2 linecolor rgb '#0072b2'"));
  CHECK(contains(svg_of(figure), "- - 6"));
}

TEST_CASE("sweeps without copies have a loss alone, and no sweep, run or evaluation is an error") {
  const Figure figure = sweep_curves_figure(std::vector<RunsOfSweep>{{"text", {run_of(0, 3, false)}}}, "");
  CHECK_FALSE(contains(figure.script.text(), "accuracy"));
  CHECK(contains(svg_of(figure), "loss (nats)"));
  CHECK_THROWS_AS(sweep_curves_figure({}, ""), Error);
  CHECK_THROWS_WITH_AS(sweep_curves_figure(std::vector<RunsOfSweep>{{"none", {}}}, ""),
                       doctest::Contains("'none'"), Error);
  CHECK_THROWS_AS(sweep_curves_figure(std::vector<RunsOfSweep>{{"bare", {CsvTable({"step", "loss"})}}}, ""),
                  Error);
}
