#include "tapehead/report/lens_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/report/style.h"

namespace tapehead {

namespace {

constexpr int kWidth = 880;
constexpr int kHeight = 560;
constexpr Panel kLossPanel{70, 712, 76, 330};
constexpr Panel kAccuracyPanel{70, 712, 362, 470};
constexpr Index kMostNames = 16;   // of layers on the axis
constexpr Index kRoomyLayers = 9;  // of which each has room for its name in words

struct Line {
  std::string_view column;
  std::string_view label;
  std::string_view colour;
};
constexpr Line kLines[] = {{"loss", "all positions", kInk},
                           {"loss_induction", "induction", kInductionColour},
                           {"loss_noise", "noise", kNoiseColour}};

std::string with_points(std::string_view data, int column, std::string_view colour) {
  return fmt::format(
      "{} using 1:{} with linespoints linewidth 1.8 pointtype 7 pointsize 0.6 linecolor rgb '{}'", data,
      column, colour);
}

/// Marks the places of read-out on the x axis, with their names or without.
void mark_layers(Figure& figure, const CsvTable& lens, bool named) {
  const Index step = (lens.rows() + kMostNames - 1) / kMostNames;
  const bool is_tight = lens.rows() > kRoomyLayers;
  std::string tics;
  for (Index row = 0; row < lens.rows(); row += step) {
    const auto layer = static_cast<Index>(lens.number(row, "layer"));
    std::string name;
    if (named && layer == 0) name = "embedding";
    if (named && layer > 0) name = fmt::format("{}{}", is_tight ? "" : "layer ", layer - 1);
    tics += fmt::format("{}\"{}\" {}", row == 0 ? "" : ", ", name, layer);
  }
  figure.script.line("set xtics ({})", tics);
}

void plot_losses(Figure& figure, const CsvTable& lens, Index vocabulary) {
  const double chance = std::log(static_cast<double>(vocabulary));
  double highest = chance;
  for (const Line& line : kLines)
    for (const double loss : lens.numbers(line.column))
      if (std::isfinite(loss)) highest = std::max(highest, loss);
  highest = std::ceil(2 * (highest + 0.5)) / 2;
  place(figure, kLossPanel, "loss (nats)");
  figure.script.line("set yrange [0:{}]", highest);
  std::vector<EndLabel> labels{{chance, fmt::format("guessing: ln {} = {:.2f}", vocabulary, chance), kGrey}};
  std::string command = fmt::format("{} with lines linewidth 1 dashtype 2 linecolor rgb '{}'", chance, kGrey);
  int column = 2;
  for (const Line& line : kLines) {
    const double last = lens.numbers(line.column).back();
    if (std::isfinite(last)) {
      command += ", " + with_points("$lens", column, line.colour);
      labels.push_back({last, fmt::format("{} {:.2f}", line.label, last), line.colour});
    }
    ++column;
  }
  label_line_ends(figure, kLossPanel, 0, highest, labels);
  figure.script.line("plot {}\nunset label", command);
}

void plot_accuracy(Figure& figure, const CsvTable& lens) {
  place(figure, kAccuracyPanel, "accuracy (%)");
  figure.script.line("set yrange [0:100]\nset ytics 0,50,100");
  label_x_axis(figure, kAccuracyPanel, "residual stream read out after");
  mark_layers(figure, lens, true);
  const double last = lens.numbers("accuracy_induction").back();
  if (!std::isfinite(last)) {
    figure.script.line("plot NaN");
    return;
  }
  label_line_ends(figure, kAccuracyPanel, 0, 1,
                  {{last, fmt::format("induction {:.0f} %", 100 * last), kInductionColour}});
  figure.script.line("plot {}", with_points("$lens", 5, kInductionColour));
}

}  // namespace

Figure lens_figure(const CsvTable& lens, const Config& config) {
  Figure figure =
      start_figure("lens", kWidth, kHeight, "What could be read out after every layer", run_in_words(config));
  std::vector<double> accuracy = lens.numbers("accuracy_induction");
  for (double& share : accuracy) share *= 100;
  figure.script.data("$lens", {lens.numbers("layer"), lens.numbers("loss"), lens.numbers("loss_induction"),
                               lens.numbers("loss_noise"), accuracy});
  figure.script.line(
      "set label 1005 {} at screen {}, screen {} left font ',12' textcolor rgb '{}'",
      gnuplot_text(fmt::format("through the model's own final norm and unembedding; a stream that "
                               "says nothing may hold what later layers use; step {}, {} sequences",
                               lens.cell(0, "step"), lens.cell(0, "sequences"))),
      20.0 / kWidth, 18.0 / kHeight, kGrey);
  const double margin = 0.04 * std::max(1.0, static_cast<double>(lens.rows() - 1));
  figure.script.line("set xrange [{}:{}]", -margin, static_cast<double>(lens.rows() - 1) + margin);
  mark_layers(figure, lens, false);
  plot_losses(figure, lens, config.model.vocabulary);
  plot_accuracy(figure, lens);
  return figure;
}

}  // namespace tapehead
