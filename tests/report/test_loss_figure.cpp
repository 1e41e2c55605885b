#include "tapehead/report/loss_figure.h"

#include <cmath>

#include "report/drawing.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// A run whose accuracy goes through a sigmoid at `middle`, with the drop and the hump that go with it.
CsvTable metrics_of(Index steps, double middle) {
  CsvTable table({"step", "tokens", "loss", "loss_induction", "loss_noise", "accuracy_induction"});
  for (Index step = 0; step <= steps; step += 20) {
    const double after = (static_cast<double>(step) - middle) / 40;
    const double formed = 1 / (1 + std::exp(-after));
    const double hump = std::exp(-after * after / 8);
    const double induction = 4 - 3.7 * formed;
    const double noise = 4.4 + 0.7 * hump;
    table.add({std::to_string(step), std::to_string(step * 1536),
               fmt::format("{}", 0.7 * induction + 0.3 * noise), fmt::format("{}", induction),
               fmt::format("{}", noise), fmt::format("{}", 0.05 + 0.9 * formed)});
  }
  return table;
}

const CsvTable kNoFloors({});

std::string svg_of_run(const CsvTable& metrics) {
  return svg_of(loss_figure(metrics, kNoFloors, formation_of(metrics), Config{}));
}

}  // namespace

TEST_CASE("the loss figure names its lines, ln V, the steps of formation, the bump and the hump") {
  const std::string svg = svg_of_run(metrics_of(2000, 500));
  for (const std::string text :
       {"Learning to copy", "loss (nats)", "accuracy (%)", "training step (1536 tokens each)",
        "all positions ", "induction 0.30", "noise 4.40", "guessing: ln 64 = 4.16",
        "accuracy 10 % to 90 %: steps ", "hump on noise, +0.", "bump, bends downward: start ", "50 % at 520",
        "induction 95 %"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
}

TEST_CASE("where nothing forms, as in a text, the loss figure shows the losses alone") {
  const CsvTable metrics = metrics_of(2000, 500);
  const std::string svg = svg_of(loss_figure(metrics, kNoFloors, Formation{}, Config{}));
  for (const std::string text : {"Loss by kind of position", "induction 0.30", "noise 4.40", "2000"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  for (const std::string text : {"copy", "bump", "hump", "10 %"}) {
    CAPTURE(text);
    CHECK_FALSE(contains(svg, text));
  }
}

TEST_CASE("the loss figure names each floor with its loss, chance once, and none that is missing") {
  const CsvTable metrics = metrics_of(2000, 500);
  CsvTable floors({"predictor", "loss", "loss_induction", "loss_noise", "accuracy_induction", "sequences"});
  floors.add({"chance", "4.15888", "4.15888", "4.15888", "0.015625", "8"});
  floors.add({"current token", "3.63", "0.78", "4.26", "0.9", "8"});
  floors.add({"Bayes", "3.43", "0.12", "", "0.99", "8"});
  const std::string svg = svg_of(loss_figure(metrics, floors, formation_of(metrics), Config{}));
  for (const std::string text : {"floor: current token 0.78", "floor: Bayes 0.12", "floor: Bayes 3.43",
                                 "guessing: ln 64 = 4.16", "induction 0.30"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  for (const std::string text : {"chance", " 3.63", " 4.26", "nan"}) {
    CAPTURE(text);
    CHECK_FALSE(contains(svg, text));
  }
}

TEST_CASE("the loss figure of a run that has not formed says so and has no end of the bump") {
  const std::string svg = svg_of_run(metrics_of(500, 500));
  CHECK(contains(svg, "Not learnt to copy by step 500"));
  CHECK(contains(svg, "no end yet"));
  CHECK_FALSE(contains(svg, "90 % at"));
}

TEST_CASE("a run that copies most but not all has learnt in part") {
  CsvTable metrics({"step", "tokens", "loss", "loss_induction", "loss_noise", "accuracy_induction"});
  for (int step = 0; step <= 1000; step += 20)
    metrics.add(
        {std::to_string(step), std::to_string(step * 10), "4", "3", "4.2", step < 400 ? "0.05" : "0.75"});
  const std::string svg = svg_of_run(metrics);
  CHECK(contains(svg, "Learning to copy, in part"));
  CHECK(contains(svg, "50 % at 400"));
}

TEST_CASE("the loss figure can be drawn from the first row on, and with values missing") {
  for (const Index steps : {0, 20, 40}) CHECK(contains(svg_of_run(metrics_of(steps, 500)), "guessing"));

  CsvTable gaps({"step", "tokens", "loss", "loss_induction", "loss_noise", "accuracy_induction"});
  for (int step = 0; step < 100; step += 20)
    gaps.add({std::to_string(step), std::to_string(step * 10), step == 40 ? "" : "4.1", "", "4.2", ""});
  const std::string svg = svg_of_run(gaps);
  CHECK(contains(svg, "all positions 4.10"));
  CHECK_FALSE(contains(svg, ">induction"));
}

TEST_CASE("of one evaluation the loss figure shows the points, over its step") {
  const CsvTable metrics = metrics_of(0, 500);
  const Figure figure = loss_figure(metrics, kNoFloors, formation_of(metrics), Config{});
  CHECK(dots(svg_of(figure)) == 4);
  CHECK(contains(figure.script.text(), "set xrange [-1:1]\nset xtics (0)\n"));
  CHECK(dots(svg_of_run(metrics_of(20, 500))) == 0);
}

TEST_CASE("the words of the loss figure stay in the panel and out of the way of a later spike") {
  // Words around the middle of their hump would begin left of the axis.
  const CsvTable metrics = metrics_of(1500, 480);
  const std::string svg = svg_of_run(metrics);
  const auto left_of = [](const std::string& text, const std::string& words) {
    const std::string head = text.substr(0, text.find(words));
    return std::stod(head.substr(head.rfind("translate(") + 10));
  };
  REQUIRE(contains(svg, "hump on noise"));
  CHECK(left_of(svg, "hump on noise") >= 70);

  CsvTable clamped(metrics.columns());
  for (Index row = 0; row < metrics.rows(); ++row) {
    std::vector<std::string> cells;
    for (const std::string& column : metrics.columns()) cells.push_back(metrics.cell(row, column));
    if (row == 33) cells[2] = cells[3] = "4", cells[5] = "0.1";
    clamped.add(std::move(cells));
  }
  const std::string with_spike = svg_of_run(clamped);
  const double spike = 70 + 652.0 * 660 / 1500;
  CHECK(left_of(svg, "bump, bends") < spike);
  CHECK(left_of(with_spike, "bump, bends") > spike);
  CHECK(left_of(svg, "90 % at") > left_of(with_spike, "90 % at"));
}
