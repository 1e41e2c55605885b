#include "tapehead/report/sweep_curves_figure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/report/band.h"
#include "tapehead/report/lettering.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kGap = 22;  // between the panels
constexpr PlotHeights kPlots{kXAxis, 440, 200};
constexpr Index kColours{kMostCurveSweeps};  // until they begin anew, with another dash
constexpr std::string_view kAccuracy = "accuracy_induction";
constexpr std::string_view kLoss = "loss";

/// A sweep's line in the key.
constexpr std::array<std::string_view, 4> kDashes{"—", "- -", "···", "-·-"};

std::string_view colour_of(std::size_t sweep) { return head_colour(0, static_cast<Index>(sweep), kColours); }
int dash_of(std::size_t sweep) { return head_dash(0, static_cast<Index>(sweep), kColours); }

std::vector<ColouredWords> key_of(std::span<const RunsOfSweep> sweeps, int width) {
  std::vector<ColouredWords> key;
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    std::string line(kDashes[static_cast<std::size_t>(dash_of(i) - 1)]);
    key.push_back({shortened(line + " " + sweeps[i].label, width - 2 * kEdge, kText), colour_of(i)});
  }
  return key;
}

/// Bands behind and medians before, as a plot command.
std::string command_of(Figure& figure, std::span<const RunsOfSweep> sweeps, std::string_view column,
                       int scale) {
  std::string bands;
  std::string medians;
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    const Band band = drawn_band(sweeps[i].metrics, column);
    if (band.steps.empty()) continue;
    const std::string block = fmt::format("${}{}", column, i);
    figure.script.data(block, {band.steps, band.lower, band.median, band.upper});
    bands += fmt::format(
        "{0} using 1:({1}*$2):({1}*$4) with filledcurves fillcolor rgb '{2}' fillstyle transparent solid "
        "0.18 "
        "noborder, ",
        block, scale, colour_of(i));
    medians += fmt::format("{} using 1:({}*$3) with {} linewidth 2.2 dashtype {} linecolor rgb '{}', ", block,
                           scale, line_style(band.median), dash_of(i), colour_of(i));
  }
  return bands + medians + "NaN";
}

bool has_accuracy(std::span<const RunsOfSweep> sweeps) {
  return std::ranges::any_of(
      sweeps, [](const RunsOfSweep& sweep) { return !drawn_band(sweep.metrics, kAccuracy).steps.empty(); });
}

double last_step_of(std::span<const RunsOfSweep> sweeps) {
  double last = 0;
  for (const RunsOfSweep& sweep : sweeps)
    for (const CsvTable& run : sweep.metrics) last = std::max(last, run.number(run.rows() - 1, "step"));
  return last;
}

/// The highest quartile of a loss.
double highest_loss(std::span<const RunsOfSweep> sweeps) {
  double highest = 0;
  for (const RunsOfSweep& sweep : sweeps)
    for (const double loss : drawn_band(sweep.metrics, kLoss).upper) highest = std::max(highest, loss);
  return highest > 0 ? std::ceil(2 * (highest + 0.1)) / 2 : 1;
}

void require_evaluated(std::span<const RunsOfSweep> sweeps) {
  require(!sweeps.empty(), "[figures] expected at least one sweep");
  for (const RunsOfSweep& sweep : sweeps) {
    require(!sweep.metrics.empty(), "[figures] expected at least one run of every sweep, got none of '{}'",
            sweep.label);
    for (const CsvTable& run : sweep.metrics)
      require(run.rows() > 0, "[figures] expected at least one evaluation of every run of '{}'", sweep.label);
  }
}

}  // namespace

Figure sweep_curves_figure(std::span<const RunsOfSweep> sweeps, const std::string& subtitle,
                           const FigureSize& size, std::string_view of) {
  require_evaluated(sweeps);
  const bool two = has_accuracy(sweeps);
  PlotHeights heights = kPlots;
  heights.around += two ? kGap : 0;
  Sheet sheet = start_sheet(
      "curves", size,
      {.title = fmt::format("Learning curves of {} {}: medians, quartiles shaded", sweeps.size(), of),
       .subtitle = subtitle,
       .key = key_of(sweeps, size.width)},
      heights);
  Figure& figure = sheet.figure;
  const int right = size.width - 2 * kEdge;
  const int middle = sheet.top + (two ? sheet.plots / 2 : 0);
  const Panel lower{kPlotLeft, right, middle + (two ? kGap : 0), sheet.top + sheet.plots + (two ? kGap : 0)};
  set_step_axis(figure, lower, last_step_of(sweeps));
  if (two) {
    const Panel upper{kPlotLeft, right, sheet.top, middle};
    place(figure, upper, "accuracy (%)");
    figure.script.line("set yrange [0:100]\nset ytics {}\nset format x ''", upper.height() > 130 ? 25 : 50);
    plot(figure, command_of(figure, sweeps, kAccuracy, 100));
  }
  place(figure, lower, "loss (nats)");
  set_y_axis(figure, lower, 0, highest_loss(sweeps));
  figure.script.line("set format x '%g'");
  label_x_axis(figure, lower, "training step");
  plot(figure, command_of(figure, sweeps, kLoss, 1));
  return std::move(sheet.figure);
}

}  // namespace tapehead
