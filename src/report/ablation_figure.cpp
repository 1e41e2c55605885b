#include "tapehead/report/ablation_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/report/style.h"

namespace tapehead {

namespace {

constexpr int kHeight = 480;
constexpr int kTop = 106;
constexpr int kBottom = 108;
constexpr int kLeft = 70;
constexpr int kRight = 24;
constexpr int kLeastWidth = 880;
constexpr int kGroupWidth = 64;     // pixels that two bars and their words need
constexpr double kBarWidth = 0.36;  // of a group

/// One colour of bars: heights and interval ends, a number a row of the table.
struct Bars {
  std::string_view name;
  std::string_view words;
  std::string_view colour;
  double side;  ///< of the group's middle
  std::vector<double> heights;
  std::vector<double> low;
  std::vector<double> high;
};

std::vector<double> column(const CsvTable& table, std::string_view name) {
  if (table.has(name)) return table.numbers(name);
  return std::vector<double>(static_cast<std::size_t>(table.rows()), std::nan(""));
}

double larger(double a, double b) { return std::isfinite(b) ? std::max(a, b) : a; }
double smaller(double a, double b) { return std::isfinite(b) ? std::min(a, b) : a; }

std::string name_of(const CsvTable& ablations, Index row) {
  const std::string& layer = ablations.cell(row, "layer");
  const std::string& head = ablations.cell(row, "head");
  if (head == "all") return fmt::format("layer {}\\nall heads", layer);
  return fmt::format("layer {}\\nhead {}", layer, head);
}

/// Which ablation, and what accuracy is left, under each group.
void name_groups(Figure& figure, const CsvTable& ablations) {
  std::string tics;
  for (Index row = 0; row < ablations.rows(); ++row) {
    const double accuracy = ablations.number(row, "accuracy_induction");
    tics += fmt::format("{}\"{}\\n{{/:Bold {:.0f} %%}}\" {}", row == 0 ? "" : ", ", name_of(ablations, row),
                        100 * accuracy, row);
  }
  figure.script.line("set xtics ({}) scale 0 font ',13'", tics);
}

/// The height in figures, beyond the interval's outer end.
void label_bars(Figure& figure, const Bars& bars, int first_tag) {
  for (std::size_t row = 0; row < bars.heights.size(); ++row) {
    const double height = bars.heights[row];
    if (!std::isfinite(height)) continue;
    const double end = height < 0 ? smaller(height, bars.low[row]) : larger(height, bars.high[row]);
    figure.script.line(
        "set label {} '{}{:.2f}' at first {}, first {} center offset 0,{} font ',12' textcolor rgb '{}'",
        first_tag + static_cast<int>(row), height < 0 ? "−" : "+", std::abs(height),
        static_cast<double>(row) + bars.side * kBarWidth / 2, end, height < 0 ? -0.6 : 0.6, bars.colour);
  }
}

}  // namespace

Figure ablation_figure(const CsvTable& ablations, double accuracy, const Config& config) {
  const auto rows = static_cast<int>(ablations.rows());
  const Bars all_bars[] = {
      {"$induction", "on induction positions", kInductionColour, -1, column(ablations, "change_induction"),
       column(ablations, "low"), column(ablations, "high")},
      {"$noise", "on noise positions", kNoiseColour, 1, column(ablations, "change_noise"),
       column(ablations, "noise_low"), column(ablations, "noise_high")}};
  double lowest = 0;
  double highest = 0.1;
  for (const Bars& bars : all_bars)
    for (std::size_t row = 0; row < bars.heights.size(); ++row) {
      lowest = smaller(smaller(lowest, bars.heights[row]), bars.low[row]);
      highest = larger(larger(highest, bars.heights[row]), bars.high[row]);
    }
  const double margin = 0.12 * (highest - lowest);

  Figure figure = start_figure("ablation", std::max(kLeastWidth, kLeft + kRight + rows * kGroupWidth),
                               kHeight, "What is lost when a head's output is zeroed", run_in_words(config));
  GnuplotScript& script = figure.script;
  place(figure, {kLeft, figure.width - kRight, kTop, kHeight - kBottom}, "change in loss (nats)");
  script.line("set xrange [-0.6:{}]\nset yrange [{}:{}]", rows - 0.4, lowest < 0 ? lowest - margin : 0,
              highest + margin);
  script.line("set boxwidth {} absolute\nset style fill solid 1 noborder", kBarWidth);
  script.line("set xzeroaxis linetype 1 linewidth 0.8 linecolor rgb '{}'", kGrey);
  script.line("set border 2");
  name_groups(figure, ablations);
  script.line("set label 40 '■ {}' at graph 0, graph 1 left offset 0,1.1 font ',13' textcolor rgb '{}'",
              all_bars[0].words, kInductionColour);
  script.line("set label 41 '■ {}' at graph 0.24, graph 1 left offset 0,1.1 font ',13' textcolor rgb '{}'",
              all_bars[1].words, kNoiseColour);
  script.line(
      "set label 42 'thin lines: 95 % intervals' at graph 1, graph 1 right offset 0,1.1 font ',13' textcolor "
      "rgb '{}'",
      kGrey);
  const std::string plain =
      std::isfinite(accuracy) ? fmt::format(" ({:.0f} % with every head)", 100 * accuracy) : "";
  script.line(
      "set label 43 'In bold: accuracy on induction positions that is left{}' at screen 0.5, screen {} "
      "center font ',13' textcolor rgb '{}'",
      plain, 18.0 / kHeight, kInk);
  std::string command;
  int tag = 100;
  for (const Bars& bars : all_bars) {
    std::vector<double> places;
    for (int row = 0; row < rows; ++row) places.push_back(row + bars.side * kBarWidth / 2);
    script.data(bars.name, {places, bars.heights, bars.low, bars.high});
    label_bars(figure, bars, tag);
    tag += rows;
    command += fmt::format(
        "{0}{1} using 1:2 with boxes linecolor rgb '{2}', {1} using 1:3:(0):($4-$3) with vectors heads size "
        "screen 0.004,90 linewidth 1.1 linecolor rgb '{3}'",
        command.empty() ? "" : ", ", bars.name, bars.colour, kInk);
  }
  script.line("plot {}", command);
  return figure;
}

}  // namespace tapehead
