#include "tapehead/report/lens_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/report/floor_lines.h"
#include "tapehead/report/lettering.h"
#include "tapehead/report/line_ends.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kGap = 32;          // between the panels
constexpr int kBetweenNames = 8;  // on the x axis
constexpr double kLossShare = 0.7;
constexpr PlotHeights kPage{kGap + kXAxis, 362, 220};
constexpr PlotHeights kNarrow{kGap + kXAxis, 300, 220};

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

/// Marks the places of read-out on the x axis, as many as there is room for, with their names or without.
void mark_layers(Figure& figure, const Panel& panel, const CsvTable& lens, bool named) {
  const double pitch = panel.width() / std::max(1.0, static_cast<double>(lens.rows() - 1));
  const bool in_words = pitch > text_width("embedding", kText) + kBetweenNames;
  const double widest = text_width(in_words ? "layer 00" : "00", kText) + kBetweenNames;
  const Index step = std::max(Index{1}, static_cast<Index>(std::ceil(widest / pitch)));
  std::string tics;
  for (Index row = 0; row < lens.rows(); row += step) {
    const Index layer = lens.whole_number(row, "layer");
    std::string name;
    if (named && layer == 0) name = in_words ? "embedding" : "emb.";
    if (named && layer > 0) name = fmt::format("{}{}", in_words ? "layer " : "", layer - 1);
    tics += fmt::format("{}\"{}\" {}", row == 0 ? "" : ", ", name, layer);
  }
  figure.script.line("set xtics ({})", tics);
}

std::vector<EndLabel> labels_of(const CsvTable& lens, Index vocabulary, bool narrow) {
  std::vector<EndLabel> labels{chance_label(vocabulary, narrow)};
  for (const Line& line : kLines) {
    const double last = lens.numbers(line.column).back();
    if (std::isfinite(last))
      labels.push_back({last, fmt::format("{} {:.2f}", line.label, last), line.colour});
  }
  return labels;
}

void plot_losses(Figure& figure, const Panel& panel, const CsvTable& lens,
                 const std::vector<EndLabel>& labels) {
  const double chance = labels.front().y;
  double highest = chance;
  for (const Line& line : kLines)
    for (const double loss : lens.numbers(line.column))
      if (std::isfinite(loss)) highest = std::max(highest, loss);
  highest = std::ceil(2 * (highest + 0.5)) / 2;
  place(figure, panel, "loss (nats)");
  set_y_axis(figure, panel, 0, highest);
  std::string command = fmt::format("{} with lines linewidth 1 dashtype 2 linecolor rgb '{}'", chance, kGrey);
  int column = 2;
  for (const Line& line : kLines) {
    if (std::isfinite(lens.numbers(line.column).back()))
      command += ", " + with_points("$lens", column, line.colour);
    ++column;
  }
  label_line_ends(figure, panel, 0, highest, labels);
  plot(figure, command);
}

void plot_accuracy(Figure& figure, const Panel& panel, const CsvTable& lens) {
  place(figure, panel, "accuracy (%)");
  figure.script.line("set yrange [0:100]\nset ytics 0,50,100");
  label_x_axis(figure, panel, "residual stream read out after");
  mark_layers(figure, panel, lens, true);
  const double last = lens.numbers("accuracy_induction").back();
  if (!std::isfinite(last)) {
    plot(figure, "NaN");
    return;
  }
  label_line_ends(figure, panel, 0, 1,
                  {{last, fmt::format("induction {:.0f} %", 100 * last), kInductionColour}});
  plot(figure, with_points("$lens", 5, kInductionColour));
}

}  // namespace

Figure lens_figure(const CsvTable& lens, const Config& config, const FigureSize& size) {
  const bool narrow = is_narrow(size);
  const std::vector<EndLabel> labels = labels_of(lens, config.model.vocabulary, narrow);
  Caption caption{.title = "What could be read out after every layer", .subtitle = run_in_words(config)};
  caption.remarks.push_back(
      {fmt::format("through the model's own final norm and unembedding; a stream that says nothing may hold "
                   "what later layers use; step {}, {} sequences",
                   lens.cell(0, "step"), lens.cell(0, "sequences"))});
  Sheet sheet = start_sheet("lens", size, caption, narrow ? kNarrow : kPage);
  Figure& figure = sheet.figure;
  std::vector<double> accuracy = lens.numbers("accuracy_induction");
  for (double& share : accuracy) share *= 100;
  figure.script.data("$lens", {lens.numbers("layer"), lens.numbers("loss"), lens.numbers("loss_induction"),
                               lens.numbers("loss_noise"), accuracy});
  const int right = right_of_plots(size.width, labels);
  const int middle = sheet.top + static_cast<int>(kLossShare * sheet.plots);
  const Panel upper{kPlotLeft, right, sheet.top, middle};
  const Panel lower{kPlotLeft, right, middle + kGap, sheet.top + sheet.plots + kGap};
  const double margin = 0.04 * std::max(1.0, static_cast<double>(lens.rows() - 1));
  figure.script.line("set xrange [{}:{}]", -margin, static_cast<double>(lens.rows() - 1) + margin);
  mark_layers(figure, upper, lens, false);
  plot_losses(figure, upper, lens, labels);
  plot_accuracy(figure, lower, lens);
  return std::move(sheet.figure);
}

}  // namespace tapehead
