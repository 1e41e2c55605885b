#include "tapehead/report/shapley_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/report/ablation_figure.h"
#include "tapehead/report/bars.h"
#include "tapehead/report/style.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr int kTop = 130;
constexpr int kPlotHeight = 230;
constexpr int kNames = 62;  // under each plot
constexpr int kWords = 20;  // a line on interactions
constexpr int kBetweenRows = 24;
constexpr int kBottom = 30;
constexpr int kLeft = 70;
constexpr int kBetween = 76;  // from plot to plot
constexpr int kRight = 24;
constexpr int kGroupWidth = 96;
constexpr int kLeastPlotWidth = 360;
constexpr int kMostWidth = 1300;
constexpr std::size_t kMostPairs = 3;  // in words
constexpr double kBarWidth = 0.38;     // of a group
constexpr double kEnds = 0.6;          // groups from the axis' ends to the first and the last
constexpr double kHeightWidth = 42;    // of a height in figures, with some room

constexpr std::string_view kShapleyColour = kInductionColour;
constexpr std::string_view kAloneColour = "#e69f00";

/// A layer's rows of one kind.
struct Layer {
  std::string name;
  std::vector<Index> rows;
};

std::vector<Layer> layers_in(const CsvTable& shapley, const std::string& kind) {
  std::vector<Layer> layers;
  for (Index row = 0; row < shapley.rows(); ++row) {
    if (shapley.cell(row, "kind") != kind) continue;
    const std::string& name = shapley.cell(row, "layer");
    if (layers.empty() || layers.back().name != name) layers.push_back({name, {}});
    layers.back().rows.push_back(row);
  }
  return layers;
}

std::vector<double> cells(const CsvTable& table, const std::vector<Index>& rows, std::string_view column) {
  std::vector<double> values;
  for (const Index row : rows) values.push_back(table.number(row, column));
  return values;
}

/// The strongest interactions of a layer whose intervals do not hold 0, a line each.
std::vector<std::string> interactions_in_words(const CsvTable& table, const std::string& kind,
                                               const std::string& layer) {
  std::vector<std::pair<double, std::string>> pairs;
  for (Index row = 0; row < table.rows(); ++row) {
    if (table.cell(row, "kind") != kind || table.cell(row, "layer") != layer) continue;
    const double value = table.number(row, "interaction");
    const bool is_clear = table.number(row, "low") > 0 || table.number(row, "high") < 0;
    if (!is_clear) continue;
    pairs.emplace_back(-std::abs(value),
                       fmt::format("heads {} and {}: {}{:.2f}, {}", table.cell(row, "first"),
                                   table.cell(row, "second"), value < 0 ? "−" : "+", std::abs(value),
                                   value > 0 ? "they stand in for one another" : "they overlap"));
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(kMostPairs, pairs.size()); ++i) lines.push_back(pairs[i].second);
  if (lines.empty()) lines.emplace_back("no pair interacts, beyond its interval");
  if (pairs.size() > kMostPairs) lines.back() += fmt::format("; {} weaker pairs", pairs.size() - kMostPairs);
  return lines;
}

std::vector<Bars> bars_of(const CsvTable& shapley, const Layer& layer) {
  return {
      {"$shapley" + layer.name, kShapleyColour, -kBarWidth / 2 - 0.01, cells(shapley, layer.rows, "shapley"),
       cells(shapley, layer.rows, "low"), cells(shapley, layer.rows, "high")},
      {"$alone" + layer.name, kAloneColour, kBarWidth / 2 + 0.01, cells(shapley, layer.rows, "alone"),
       cells(shapley, layer.rows, "alone_low"), cells(shapley, layer.rows, "alone_high")}};
}

/// One for all layers, with their bars and the lines of the whole layers.
BarRange range_of_layers(const CsvTable& shapley, const std::vector<Layer>& layers) {
  std::vector<Bars> all_bars;
  double lowest = 0;
  double highest = 0.1;
  for (const Layer& layer : layers) {
    for (Bars& bars : bars_of(shapley, layer)) all_bars.push_back(std::move(bars));
    const double whole = shapley.number(layer.rows.front(), "whole_layer");
    if (!std::isfinite(whole)) continue;
    lowest = std::min(lowest, whole);
    highest = std::max(highest, whole);
  }
  BarRange range = range_of(all_bars, highest, kPlotHeight);
  if (lowest < 0) range.low = std::min(range.low, lowest - range.margin);
  return range;
}

/// The line of the whole layer, open where it would go through a height; a group is `group_width` pixels
/// wide.
void draw_whole(Figure& figure, const std::vector<Bars>& all_bars, const BarRange& range, double whole,
                double group_width) {
  const auto dashes = [&](double from, double to) {
    if (from < to)
      figure.script.line(
          "set arrow from {1}, {0} to {2}, {0} nohead dashtype 2 linewidth 1.4 linecolor rgb '{3}'", whole,
          from, to, kGrey);
  };
  const double half_height = kHeightWidth / 2 / group_width;
  const std::size_t groups = all_bars.front().heights.size();
  double from = -kEnds;
  for (std::size_t group = 0; group < groups; ++group)
    for (const Bars& bars : all_bars) {
      if (!crosses_height(bars, range, group, whole)) continue;
      const double middle = static_cast<double>(group) + bars.offset;
      dashes(from, middle - half_height);
      from = middle + half_height;
    }
  dashes(from, static_cast<double>(groups) - 1 + kEnds);
}

void draw_layer(Figure& figure, const CsvTable& shapley, const Layer& layer, const Panel& panel,
                const BarRange& range) {
  const std::vector<Bars> all_bars = bars_of(shapley, layer);
  const double whole = shapley.number(layer.rows.front(), "whole_layer");
  set_bars(figure, range, kBarWidth);
  std::string tics;
  for (std::size_t i = 0; i < layer.rows.size(); ++i) {
    const double share = shapley.number(layer.rows[i], "share");
    tics += fmt::format("{}\"head {}\\n{{/:Bold {}}}\" {}", i == 0 ? "" : ", ",
                        shapley.cell(layer.rows[i], "head"),
                        std::isfinite(share) ? fmt::format("{:.0f} %%", 100 * share) : "", i);
  }
  figure.script.line("set xtics ({}) scale 0 font ',13'", tics);
  const std::string command = bars_command(figure, all_bars, range, layer.rows.size() > 8 ? 10 : 12);
  place(figure, panel, panel.left == kLeft ? "change in loss on induction (nats)" : "");
  const auto groups = static_cast<double>(layer.rows.size());
  figure.script.line("set xrange [{}:{}]", -kEnds, groups - 1 + kEnds);
  const std::string together = std::isfinite(whole) ? fmt::format(": all heads together {}{:.2f}",
                                                                  whole < 0 ? "−" : "+", std::abs(whole))
                                                    : "";
  figure.script.line("set label 60 {} at graph 0.5, graph 1.07 center font ',14' textcolor rgb '{}'",
                     gnuplot_text("layer " + layer.name + together), kInk);
  if (std::isfinite(whole))
    draw_whole(figure, all_bars, range, whole, (panel.right - panel.left) / (groups - 1 + 2 * kEnds));
  // What was drawn would be drawn again with the next plot.
  figure.script.line("{}\nunset label\nunset arrow", command);
}

/// What the colours and numbers mean.
void explain(Figure& figure, const CsvTable& shapley, const std::string& kind) {
  const auto say = [&](int tag, const std::string& text, int x, int y, std::string_view colour) {
    figure.script.line("set label {} {} at screen {}, screen {} left font ',13' textcolor rgb '{}'", tag,
                       gnuplot_text(text), 1.0 * x / figure.width, 1 - 1.0 * y / figure.height, colour);
  };
  say(40, "■ Shapley value", kLeft, 78, kShapleyColour);
  say(41, "■ ablated alone", kLeft + 130, 78, kAloneColour);
  say(42, "- - whole layer", kLeft + 262, 78, kGrey);
  say(43, "thin lines: 95 % intervals", kLeft + 380, 78, kGrey);
  say(44, fmt::format("in bold: share of the layer; {} ablation{}", kind, made_of(shapley)), kLeft,
      figure.height - 18, kInk);
}

}  // namespace

Figure shapley_figure(const CsvTable& shapley, const CsvTable& interactions, const Config& config) {
  const std::string kind = shapley.cell(0, "kind");
  const std::vector<Layer> layers = layers_in(shapley, kind);
  const auto heads = static_cast<int>(layers.front().rows.size());
  const int plot_width = std::max(kLeastPlotWidth, heads * kGroupWidth);
  const int most = std::max(1, (kMostWidth - kLeft - kRight + kBetween) / (plot_width + kBetween));
  const int in_a_row = std::min(most, static_cast<int>(layers.size()));
  const int rows = (static_cast<int>(layers.size()) + in_a_row - 1) / in_a_row;
  std::vector<std::vector<std::string>> words;
  std::size_t most_lines = 0;
  for (const Layer& layer : layers) {
    words.push_back(interactions_in_words(interactions, kind, layer.name));
    most_lines = std::max(most_lines, words.back().size());
  }
  const BarRange range = range_of_layers(shapley, layers);
  const int row_height = kPlotHeight + kNames + kWords * static_cast<int>(most_lines) + kBetweenRows;
  Figure figure = start_figure("shapley", kLeft + in_a_row * (plot_width + kBetween) - kBetween + kRight,
                               kTop + rows * row_height + kBottom, "Who does the work of a layer's heads",
                               run_in_words(config));
  explain(figure, shapley, kind);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const int left = kLeft + static_cast<int>(i) % in_a_row * (plot_width + kBetween);
    const int top = kTop + static_cast<int>(i) / in_a_row * row_height;
    for (std::size_t line = 0; line < most_lines; ++line)
      figure.script.line(
          "set label {} {} at screen {}, screen {} left font ',12' textcolor rgb '{}'", 70 + line,
          gnuplot_text(line < words[i].size() ? words[i][line] : " "), 1.0 * left / figure.width,
          1 - 1.0 * (top + kPlotHeight + kNames + kWords * static_cast<int>(line)) / figure.height, kInk);
    draw_layer(figure, shapley, layers[i], {left, left + plot_width, top, top + kPlotHeight}, range);
  }
  return figure;
}

}  // namespace tapehead
