#include "tapehead/report/curves_figure.h"

#include <cmath>

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// A run up to a step whose accuracy goes through a sigmoid at `middle`.
CsvTable metrics_of(Index steps, double middle) {
  CsvTable table({"step", "tokens", "loss", "loss_induction", "loss_noise", "accuracy_induction"});
  for (Index step = 0; step <= steps; step += 20) {
    const double formed = 1 / (1 + std::exp((middle - static_cast<double>(step)) / 40));
    table.add({std::to_string(step), std::to_string(step * 1536), csv_cell(4 - 2.5 * formed),
               csv_cell(4 - 3.7 * formed), "4.4", csv_cell(0.05 + 0.9 * formed)});
  }
  return table;
}

std::string svg_of_runs(const std::vector<CsvTable>& runs, std::vector<Config> configs = {},
                        const CsvTable& floors = CsvTable({})) {
  configs.resize(runs.size());
  return svg_of(curves_figure(runs, floors, configs));
}

}  // namespace

TEST_CASE("the curves figure says how many runs formed and when, and marks those that did not") {
  const std::string formed =
      svg_of_runs({metrics_of(2000, 490), metrics_of(2000, 690), metrics_of(2000, 890)});
  for (const std::string text :
       {"Learning curves of 3 runs",
        "above 50 %: 3 of 3 runs; median step 700; quartiles step 600 and step 800", "accuracy (%)",
        "loss (nats)", "noise 4.40", "induction 0.30", "all positions 1.50", "guessing: ln 64 = 4.16",
        "induction 95.0 %", "training step (1536 tokens each)", "2 layers"}) {
    CAPTURE(text);
    CHECK(contains(formed, text));
  }
  CHECK_FALSE(contains(formed, "not formed"));
  const std::string mixed =
      svg_of_runs({metrics_of(2000, 500), metrics_of(2000, 9000), metrics_of(2000, 9000)});
  CHECK(contains(mixed, "above 50 %: 1 of 3 runs; median and quartiles not by step 2000"));
  CHECK(contains(mixed, "× 2 not formed"));
}

TEST_CASE("the curves figure names a field in which the runs differ, but for seeds") {
  std::vector<Config> configs(2);
  configs[1].train.data_seed = 5;
  const std::vector<CsvTable> runs{metrics_of(200, 100), metrics_of(200, 100)};
  CHECK_FALSE(contains(svg_of_runs(runs, configs), "differ"));
  configs[1].model.layers = 1;
  CHECK(contains(svg_of_runs(runs, configs), "the runs differ in model.layers"));
}

TEST_CASE(
    "runs that share no step but the first have no median, and runs of other batches no common tokens") {
  std::vector<Config> configs(2);
  configs[1].train.batch *= 2;
  CsvTable short_run = metrics_of(0, 100);
  short_run.add({"3", "3", "4", "4", "4.4", "0.05"});
  const std::string drawn = svg_of_runs({metrics_of(2000, 9000), short_run}, configs);
  for (const std::string text : {"2 runs, evaluated at different steps: no median",
                                 "above 50 %: none of 2 runs", "training step", "all positions"}) {
    CAPTURE(text);
    CHECK(contains(drawn, text));
  }
  CHECK_FALSE(contains(drawn, "quartiles"));
  CHECK_FALSE(contains(drawn, "tokens each"));
  CHECK_FALSE(contains(drawn, "at step 0"));
}

TEST_CASE("the curves figure can be drawn of one run, of a first evaluation, and with columns missing") {
  CHECK(contains(svg_of_runs({metrics_of(0, 100)}), "of 1 run:"));
  CsvTable bare({"step", "tokens", "loss"});
  CHECK_THROWS_AS(svg_of_runs({bare}), Error);
  bare.add({"0", "0", ""});
  CHECK(contains(svg_of_runs({bare}), "guessing"));
  bare.add({"10", "20", "3"});
  CHECK(contains(svg_of_runs({bare, bare}), "all positions 3.00"));
  CHECK_THROWS_AS(curves_figure({}, CsvTable({}), {}), Error);
}

TEST_CASE("of one evaluation the curves figure shows the points, over its step") {
  std::vector<Config> configs(2);
  configs[0].task.name = configs[1].task.name = "text";
  const CsvTable first = metrics_of(0, 500);
  const Figure figure = curves_figure(std::vector{first, first}, CsvTable({}), configs);
  CHECK(contains(figure.script.text(), "set xrange [-1:1]\nset xtics (0)\n"));
  CHECK(dots(svg_of(figure)) == 4 * 3);  // two runs and their median
  CHECK(dots(svg_of_runs({first, metrics_of(2000, 500)}, configs)) == 4);
  CHECK(dots(svg_of_runs({metrics_of(2000, 500)}, {configs[0]})) == 0);
}

TEST_CASE("a median that ends before the axis says at which step it is") {
  const std::string apart = svg_of_runs({metrics_of(1000, 500), metrics_of(2000, 500)});
  for (const std::string text : {"induction 95.0 % at step 1000", "noise 4.40 at step 1000",
                                 "all positions 1.50 at step 1000", "induction 0.30 at step 1000"}) {
    CAPTURE(text);
    CHECK(contains(apart, text));
  }
  const std::string together = svg_of_runs({metrics_of(2000, 500), metrics_of(2000, 500)});
  CHECK_FALSE(contains(together, " at step"));
}

TEST_CASE("of a text the curves figure has no formation") {
  std::vector<Config> configs(1);
  configs[0].task.name = "text";
  const std::string svg = svg_of_runs({metrics_of(2000, 9000)}, configs);
  CHECK_FALSE(contains(svg, "not formed"));
  CHECK_FALSE(contains(svg, "above 50 %"));
}
