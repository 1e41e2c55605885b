#include "tapehead/report/ablation_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/report/style.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr int kTop = 106;
constexpr int kPlotHeight = 266;
constexpr int kNames = 84;  // under each plot
constexpr int kBottom = 26;
constexpr int kLeft = 70;
constexpr int kRight = 24;
constexpr int kLeastWidth = 880;
constexpr int kGroupWidth = 64;     // that two bars and their words need
constexpr int kGroups = 12;         // of bars in a row of them, if whole layers allow
constexpr double kBarWidth = 0.36;  // of a group

/// One colour of bars: heights and interval ends, a number a row of the table.
struct Bars {
  std::string_view name;
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

/// How many groups of bars stand in one plot: as many layers as have room.
int groups_in_a_plot(const ModelConfig& model) {
  const int of_a_layer = static_cast<int>(model.heads) + 1;
  return of_a_layer * std::max(1, kGroups / of_a_layer);
}

/// Which ablation, and what accuracy is left, under each group.
void name_groups(Figure& figure, const CsvTable& ablations) {
  std::string tics;
  for (Index row = 0; row < ablations.rows(); ++row) {
    const std::string& head = ablations.cell(row, "head");
    tics += fmt::format("{}\"layer {}\\n{}\\n{{/:Bold {:.0f} %%}}\" {}", row == 0 ? "" : ", ",
                        ablations.cell(row, "layer"), head == "all" ? "all heads" : "head " + head,
                        100 * ablations.number(row, "accuracy_induction"), row);
  }
  figure.script.line("set xtics ({}) scale 0 font ',13'", tics);
}

/// "; step 2000, 256 sequences", as far as the table tells.
std::string made_of(const CsvTable& ablations) {
  std::string text;
  if (ablations.has("step")) text += "; step " + ablations.cell(0, "step");
  if (ablations.has("sequences")) text += ", " + ablations.cell(0, "sequences") + " sequences";
  return text;
}

/// Above and below all plots.
void explain(Figure& figure, const CsvTable& ablations, double accuracy) {
  const auto say = [&](int tag, const std::string& text, int x, int y, std::string_view colour) {
    figure.script.line("set label {} {} at screen {}, screen {} left font ',13' textcolor rgb '{}'", tag,
                       gnuplot_text(text), 1.0 * x / figure.width, 1 - 1.0 * y / figure.height, colour);
  };
  say(40, "■ on induction positions", kLeft, 82, kInductionColour);
  say(41, "■ on noise positions", kLeft + 190, 82, kNoiseColour);
  say(42, "thin lines: 95 % intervals", kLeft + 360, 82, kGrey);
  const std::string plain =
      std::isfinite(accuracy) ? fmt::format(" ({:.0f} % with every head)", 100 * accuracy) : "";
  say(43, "in bold: accuracy on induction positions that is left" + plain + made_of(ablations), kLeft,
      figure.height - 20, kInk);
}

/// Where heights are written: so far beyond the bar and its interval.
std::vector<double> label_places(const Bars& bars, double beyond) {
  std::vector<double> places;
  for (std::size_t row = 0; row < bars.heights.size(); ++row)
    places.push_back(bars.heights[row] < 0 ? smaller(bars.heights[row], bars.low[row]) - beyond
                                           : larger(bars.heights[row], bars.high[row]) + beyond);
  return places;
}

/// A plot command for bars, intervals and heights in figures. (gnuplot 5.4 crashes on labels of which none is
/// there, so bars without any height are left out.)
std::string plot_command(Figure& figure, const std::vector<Bars>& all_bars, double beyond, int font) {
  std::string command;
  for (const Bars& bars : all_bars) {
    if (std::none_of(bars.heights.begin(), bars.heights.end(),
                     [](double height) { return std::isfinite(height); }))
      continue;
    std::vector<double> places;
    for (std::size_t row = 0; row < bars.heights.size(); ++row)
      places.push_back(static_cast<double>(row) + bars.side * kBarWidth / 2);
    figure.script.data(bars.name, {places, bars.heights, bars.low, bars.high, label_places(bars, beyond)});
    command += fmt::format("{}{} using 1:2 with boxes linecolor rgb '{}'", command.empty() ? "plot " : ", ",
                           bars.name, bars.colour);
    command += fmt::format(
        ", {} using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 fixed linewidth 1.1 linecolor "
        "rgb '{}'",
        bars.name, kInk);
    command += fmt::format(
        ", {} using 1:5:(($2 < 0 ? '−' : '+').sprintf('%.2f', abs($2))) with labels center font ',{}' "
        "textcolor rgb '{}'",
        bars.name, font, bars.colour);
  }
  return command;
}

}  // namespace

Figure ablation_figure(const CsvTable& ablations, double accuracy, const Config& config) {
  const std::vector<Bars> all_bars{{"$induction", kInductionColour, -1, column(ablations, "change_induction"),
                                    column(ablations, "low"), column(ablations, "high")},
                                   {"$noise", kNoiseColour, 1, column(ablations, "change_noise"),
                                    column(ablations, "noise_low"), column(ablations, "noise_high")}};
  double lowest = 0;
  double highest = 0.1;
  for (const Bars& bars : all_bars)
    for (std::size_t row = 0; row < bars.heights.size(); ++row) {
      lowest = smaller(smaller(lowest, bars.heights[row]), bars.low[row]);
      highest = larger(larger(highest, bars.heights[row]), bars.high[row]);
    }
  const double margin = 0.12 * (highest - lowest);

  const auto rows = static_cast<int>(ablations.rows());
  const int groups = std::min(rows, groups_in_a_plot(config.model));
  const int plots = (rows + groups - 1) / groups;
  Figure figure = start_figure("ablation", std::max(kLeastWidth, kLeft + kRight + groups * kGroupWidth),
                               kTop + plots * (kPlotHeight + kNames) + kBottom,
                               "What is lost when a head's output is zeroed", run_in_words(config));
  GnuplotScript& script = figure.script;
  script.line("set yrange [{}:{}]", lowest < 0 ? lowest - margin : 0, highest + margin);
  script.line("set boxwidth {} absolute\nset style fill solid 1 noborder", kBarWidth);
  script.line("set xzeroaxis linetype 1 linewidth 0.8 linecolor rgb '{}'\nset border 2", kGrey);
  name_groups(figure, ablations);
  explain(figure, ablations, accuracy);
  const std::string command = plot_command(figure, all_bars, margin / 3, groups > 8 ? 11 : 12);
  for (int plot = 0; plot < plots; ++plot) {
    const int top = kTop + plot * (kPlotHeight + kNames);
    place(figure, {kLeft, figure.width - kRight, top, top + kPlotHeight}, "change in loss (nats)");
    script.line("set xrange [{}:{}]\n{}", plot * groups - 0.6, (plot + 1) * groups - 0.4, command);
  }
  return figure;
}

}  // namespace tapehead
