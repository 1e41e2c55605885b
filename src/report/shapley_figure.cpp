#include "tapehead/report/shapley_figure.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tapehead/base/require.h"
#include "tapehead/report/ablation_figure.h"
#include "tapehead/report/bars.h"
#include "tapehead/report/lettering.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kPlotHeight = 230;
constexpr int kLeastHeight = 150;
constexpr int kTitle = 24;  // over each plot
constexpr int kNames = 46;  // under each plot
constexpr int kBetweenRows = 20;
constexpr int kBetween = 76;             // from plot to plot
constexpr double kLeastPitch = 29;       // of groups, for upright numbers
constexpr std::size_t kGroupWidth = 52;  // of plots that stand side by side, at least
constexpr std::size_t kMostPairs = 3;    // in words
constexpr double kBarWidth = 0.38;       // of a group
constexpr double kBesideHeight = 5;      // pixels between a height in figures and the line of a layer

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
    const int decimals = std::abs(value) < 0.01 ? 4 : 2;
    const bool is_clear = table.number(row, "low") > 0 || table.number(row, "high") < 0;
    if (!is_clear) continue;
    pairs.emplace_back(-std::abs(value),
                       fmt::format("heads {} and {}: {}, {}", table.cell(row, "first"),
                                   table.cell(row, "second"), with_sign(value, decimals),
                                   value > 0 ? "they stand in for one another" : "they need one another"));
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

/// All layers' bars and the numbers over them, on one range, with the lines of the whole layers.
struct Look {
  BarNumbers numbers;
  BarRange range;
};

Look look_of(const CsvTable& shapley, const std::vector<Layer>& layers, const Panel& panel) {
  double lowest = 0;
  double highest = 0.1;
  Look look;
  std::vector<Bars> all_bars;
  for (const Layer& layer : layers) {
    std::vector<Bars> bars = bars_of(shapley, layer);
    const BarNumbers numbers =
        numbers_over(bars, group_width(panel.width(), static_cast<int>(layer.rows.size())));
    look.numbers.is_upright = look.numbers.is_upright || numbers.is_upright;
    look.numbers.extent = std::max(look.numbers.extent, numbers.extent);
    std::ranges::move(bars, std::back_inserter(all_bars));
    const double whole = shapley.number(layer.rows.front(), "whole_layer");
    if (!std::isfinite(whole)) continue;
    lowest = std::min(lowest, whole);
    highest = std::max(highest, whole);
  }
  // The lines as a bar without a place.
  all_bars.push_back({"$whole", kGrey, 0, {lowest}, {lowest}, {highest}});
  look.range = range_of(all_bars, highest, panel.height(), look.numbers);
  return look;
}

/// The line of the whole layer, open where it would go through a height; a group is `group` pixels wide.
void draw_whole(Figure& figure, const std::vector<Bars>& all_bars, const Look& look, double whole,
                double group) {
  const auto dashes = [&](double from, double to) {
    if (from < to)
      figure.script.line(
          "set arrow from {1}, {0} to {2}, {0} nohead dashtype 2 linewidth 1.4 linecolor rgb '{3}'", whole,
          from, to, kGrey);
  };
  const std::size_t groups = all_bars.front().heights.size();
  double from = -kGroupEnds;
  for (std::size_t i = 0; i < groups; ++i)
    for (const Bars& bars : all_bars) {
      if (!crosses_height(bars, look.range, i, whole)) continue;
      const double width =
          look.numbers.is_upright ? kSmallText : text_width(with_sign(bars.heights[i]), kSmallText);
      const double half = (width / 2 + kBesideHeight) / group;
      const double middle = static_cast<double>(i) + bars.offset;
      dashes(from, middle - half);
      from = middle + half;
    }
  dashes(from, static_cast<double>(groups) - 1 + kGroupEnds);
}

/// Whether names and shares have room as words.
bool is_roomy(double group) { return text_width("head 00", kText) <= group; }

/// "head 0", and its share of the layer.
void name_groups(Figure& figure, const CsvTable& shapley, const Layer& layer, double group) {
  std::string tics;
  const bool has_room = is_roomy(group);
  for (std::size_t i = 0; i < layer.rows.size(); ++i) {
    const double share = shapley.number(layer.rows[i], "share");
    tics += fmt::format("{}\"{}{}\\n{{/:Bold {}}}\" {}", i == 0 ? "" : ", ",
                        has_room ? "head " : layer.name + ".", shapley.cell(layer.rows[i], "head"),
                        std::isfinite(share) ? in_figures(100 * share, 0) + (has_room ? " %%" : "") : "", i);
  }
  figure.script.line("set xtics ({}) scale 0 font ',{}'", tics, kText);
}

std::string title_of(const CsvTable& shapley, const Layer& layer) {
  const double whole = shapley.number(layer.rows.front(), "whole_layer");
  return "layer " + layer.name +
         (std::isfinite(whole) ? ": all heads together " + with_sign(whole) : std::string());
}

void draw_layer(Figure& figure, const CsvTable& shapley, const Layer& layer, const Panel& panel,
                const Look& look) {
  const std::vector<Bars> all_bars = bars_of(shapley, layer);
  const double whole = shapley.number(layer.rows.front(), "whole_layer");
  const auto groups = static_cast<int>(layer.rows.size());
  set_bars(figure, look.range, kBarWidth, panel.height());
  name_groups(figure, shapley, layer, group_width(panel.width(), groups));
  place(figure, panel, panel.left == kPlotLeft ? "change in loss (nats)" : "");
  figure.script.line("set xrange [{}:{}]", -kGroupEnds, groups - 1 + kGroupEnds);
  write(figure, title_of(shapley, layer), (panel.left + panel.right) / 2.0, panel.top - kTitle / 2.0,
        {.is_bold = true, .align = "center"});
  if (std::isfinite(whole)) draw_whole(figure, all_bars, look, whole, group_width(panel.width(), groups));
  plot(figure, bars_command(figure, all_bars, look.range, look.numbers));
  figure.script.line("unset arrow");
}

Caption caption_of(const CsvTable& shapley, const std::string& kind, bool roomy, const Config& config) {
  return {.title = "Who does the work of a layer's heads",
          .subtitle = run_in_words(config),
          .key = {{"■ Shapley value", kShapleyColour},
                  {"■ ablated alone", kAloneColour},
                  {"- - whole layer", kGrey},
                  {"thin lines: 95 % intervals", kGrey}},
          .remarks = {{"bars: what the loss on induction positions gains without the head"},
                      {fmt::format("in bold: share of the layer{}; {} ablation{}", roomy ? "" : " (%)", kind,
                                   made_of(shapley))}}};
}

/// How many layers stand side by side, whose plots have room for so many heads and for their titles.
int layers_in_a_row(const CsvTable& shapley, const std::vector<Layer>& layers, int room) {
  auto width = static_cast<double>(layers.front().rows.size() * kGroupWidth);
  for (const Layer& layer : layers)
    width = std::max(width, text_width(title_of(shapley, layer), kText, true));
  const int count = static_cast<int>((room + kBetween) / (width + kBetween));
  return std::clamp(count, 1, static_cast<int>(layers.size()));
}

/// The lines on interactions below each layer's plot, as many for each.
std::vector<std::vector<std::string>> words_below(const CsvTable& interactions, const std::string& kind,
                                                  const std::vector<Layer>& layers, int width) {
  std::vector<std::vector<std::string>> words;
  for (const Layer& layer : layers) {
    words.emplace_back();
    for (const std::string& line : interactions_in_words(interactions, kind, layer.name))
      std::ranges::move(wrap(line, width, kSmallText), std::back_inserter(words.back()));
  }
  return words;
}

}  // namespace

Figure shapley_figure(const CsvTable& shapley, const CsvTable& interactions, const Config& config,
                      const FigureSize& size) {
  const std::string kind = shapley.cell(0, "kind");
  const std::vector<Layer> layers = layers_in(shapley, kind);
  const int room = size.width - kPlotLeft - kEdge;
  const int columns = layers_in_a_row(shapley, layers, room);
  const int width = (room + kBetween) / columns - kBetween;
  const auto heads = static_cast<int>(layers.front().rows.size());
  require(group_width(width, heads) >= kLeastPitch,
          "[figures] expected a width of at least {:.0f} pixels for the figure shapley of {} heads, got {}",
          std::ceil(kLeastPitch / group_width(1, heads)) + kPlotLeft + kEdge, heads, size.width);
  const int rows = (static_cast<int>(layers.size()) + columns - 1) / columns;
  const std::vector<std::vector<std::string>> words = words_below(interactions, kind, layers, width);
  int most_lines = 0;
  for (const auto& lines : words) most_lines = std::max(most_lines, static_cast<int>(lines.size()));
  const int around = kTitle + kNames + kLine * most_lines + kBetweenRows;
  Sheet sheet =
      start_sheet("shapley", size, caption_of(shapley, kind, is_roomy(group_width(width, heads)), config),
                  {rows * around - kBetweenRows, rows * kPlotHeight, rows * kLeastHeight});
  const int height = sheet.plots / rows;
  const Look look = look_of(shapley, layers, {0, width, 0, height});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const int left = kPlotLeft + static_cast<int>(i) % columns * (width + kBetween);
    const int top = sheet.top + static_cast<int>(i) / columns * (height + around) + kTitle;
    double y = top + height + kNames;
    for (const std::string& line : words[i]) {
      y += kLine;
      write(sheet.figure, line, left, y - kLine / 2.0, {.size = kSmallText});
    }
    draw_layer(sheet.figure, shapley, layers[i], {left, left + width, top, top + height}, look);
  }
  return std::move(sheet.figure);
}

}  // namespace tapehead
