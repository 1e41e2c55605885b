#include "tapehead/report/attribution_figure.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tapehead/report/style.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr int kTop = 106;
constexpr int kPlotHeight = 250;
constexpr int kNames = 84;  // under each plot
constexpr int kBottom = 30;
constexpr int kLeft = 70;
constexpr int kRight = 24;
constexpr int kWidth = 880;
constexpr int kMostGroups = 12;  // of bars in a row of them
constexpr double kBarWidth = 0.36;

/// The bars of one kind of position, a height a component.
struct Bars {
  std::string_view name;  ///< of the data block, and of the kind behind the `$`
  std::string_view colour;
  double side;  ///< of the group's middle
  std::vector<double> heights = {};
};

std::string words_of(const CsvTable& table, Index row) {
  std::string name = table.cell(row, "component");
  if (name == "sum") return "{/:Bold sum}\\n{/:Bold of all}";
  std::replace(name.begin(), name.end(), '_', ' ');
  const std::string& layer = table.cell(row, "layer");
  const std::string& head = table.cell(row, "head");
  if (!head.empty()) return fmt::format("layer {}\\nhead {}", layer, head);
  const std::size_t space = name.rfind(' ');
  if (space != std::string::npos) name.replace(space, 1, "\\n");
  return layer.empty() ? name : fmt::format("layer {}\\n{}", layer, name);
}

void explain(Figure& figure, const CsvTable& table) {
  const auto say = [&](int tag, const std::string& text, int x, int y, std::string_view colour) {
    figure.script.line("set label {} {} at screen {}, screen {} left font ',13' textcolor rgb '{}'", tag,
                       gnuplot_text(text), 1.0 * x / figure.width, 1 - 1.0 * y / figure.height, colour);
  };
  say(40, "■ on induction positions", kLeft, 82, kInductionColour);
  say(41, "■ on noise positions", kLeft + 190, 82, kNoiseColour);
  say(42,
      fmt::format("direct parts, above what each gives to all tokens on average; step {}, {} sequences",
                  table.cell(0, "step"), table.cell(0, "sequences")),
      20, figure.height - 20, kGrey);
}

}  // namespace

Figure attribution_figure(const CsvTable& attribution, const Config& config) {
  std::vector<Bars> all_bars{{"$induction", kInductionColour, -1}, {"$noise", kNoiseColour, 1}};
  std::string tics;
  int count = 0;
  double lowest = 0;
  double highest = 0.1;
  for (Index row = 0; row < attribution.rows(); ++row) {
    const std::string& kind = attribution.cell(row, "kind");
    if (kind == "all") {
      tics += fmt::format("{}\"{}\" {}", count == 0 ? "" : ", ", words_of(attribution, row), count);
      ++count;
    }
    for (Bars& bars : all_bars)
      if (bars.name.substr(1) == kind) bars.heights.push_back(attribution.number(row, "above_mean"));
  }
  for (const Bars& bars : all_bars)
    for (const double height : bars.heights) {
      if (!std::isfinite(height)) continue;
      lowest = std::min(lowest, height);
      highest = std::max(highest, height);
    }
  const double margin = 0.12 * (highest - lowest);
  const int plots = (count + kMostGroups - 1) / kMostGroups;
  const int groups = (count + plots - 1) / plots;
  Figure figure = start_figure("attribution", kWidth, kTop + plots * (kPlotHeight + kNames) + kBottom,
                               "What each part adds to the right token's logit", run_in_words(config));
  GnuplotScript& script = figure.script;
  script.line("set yrange [{}:{}]\nset boxwidth {} absolute\nset style fill solid 1 noborder",
              lowest < 0 ? lowest - margin : 0, highest + margin, kBarWidth);
  script.line("set xzeroaxis linetype 1 linewidth 0.8 linecolor rgb '{}'\nset border 2", kGrey);
  script.line("set xtics ({}) scale 0 font ',{}'", tics, groups > 8 ? 11 : 13);
  explain(figure, attribution);

  std::string command;
  for (const Bars& bars : all_bars) {
    // gnuplot 5.4 crashes on labels of which none is there.
    if (std::none_of(bars.heights.begin(), bars.heights.end(), [](double h) { return std::isfinite(h); }))
      continue;
    std::vector<double> places;
    std::vector<double> labels;
    for (std::size_t i = 0; i < bars.heights.size(); ++i) {
      places.push_back(static_cast<double>(i) + bars.side * kBarWidth / 2);
      labels.push_back(bars.heights[i] + (bars.heights[i] < 0 ? -margin : margin) / 2.5);
    }
    script.data(bars.name, {places, bars.heights, labels});
    command += fmt::format("{}{} using 1:2 with boxes linecolor rgb '{}'", command.empty() ? "plot " : ", ",
                           bars.name, bars.colour);
    command += fmt::format(
        ", {} using 1:3:((abs($2) < 0.005 ? '' : $2 < 0 ? '−' : '+').sprintf('%.2f', abs($2))) with labels "
        "center font ',{}' "
        "textcolor rgb '{}'",
        bars.name, groups > 8 ? 10 : 12, bars.colour);
  }
  for (int plot = 0; plot < plots; ++plot) {
    const int top = kTop + plot * (kPlotHeight + kNames);
    place(figure, {kLeft, kWidth - kRight, top, top + kPlotHeight}, "part of the logit");
    script.line("set xrange [{}:{}]\n{}", plot * groups - 0.6, (plot + 1) * groups - 0.4, command);
  }
  return figure;
}

}  // namespace tapehead
