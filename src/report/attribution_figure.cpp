#include "tapehead/report/attribution_figure.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tapehead/report/ablation_figure.h"
#include "tapehead/report/bars.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kPlotHeight = 250;
constexpr int kNarrowHeight = 200;
constexpr int kLeastHeight = 140;
constexpr int kNames = 46;  // under each plot
constexpr int kBetween = 20;
constexpr int kBesideName = 6;      // between the names of two groups
constexpr double kLeastPitch = 46;  // of groups, for their bars
constexpr double kBarWidth = 0.42;  // of a group

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

/// The components, in the table's order, and their bars.
struct Parts {
  std::vector<std::string> names;  ///< for gnuplot
  std::vector<Bars> bars{{"$induction", kInductionColour, -kBarWidth / 2, {}, {}, {}},
                         {"$noise", kNoiseColour, kBarWidth / 2, {}, {}, {}}};
};

Parts parts_of(const CsvTable& attribution) {
  Parts parts;
  for (Index row = 0; row < attribution.rows(); ++row) {
    const std::string& kind = attribution.cell(row, "kind");
    if (kind == "all") parts.names.push_back(words_of(attribution, row));
    for (Bars& bars : parts.bars)
      if (bars.name.substr(1) == kind) bars.heights.push_back(attribution.number(row, "above_mean"));
  }
  for (Bars& bars : parts.bars) bars.low = bars.high = std::vector<double>(bars.heights.size(), std::nan(""));
  return parts;
}

double least_pitch(const std::vector<std::string>& names) {
  double pitch = kLeastPitch;
  for (const std::string& name : names)
    if (!name.starts_with('{')) pitch = std::max(pitch, kBesideName + width_of_tic(name));
  return pitch;
}

Caption caption_of(const CsvTable& table, const Config& config) {
  return {
      .title = "What each part adds to the right token's logit",
      .subtitle = run_in_words(config),
      .key = {{"■ on induction positions", kInductionColour}, {"■ on noise positions", kNoiseColour}},
      .remarks = {{fmt::format("direct parts, above what each gives to all tokens on average; step {}, {} "
                               "sequences",
                               table.cell(0, "step"), table.cell(0, "sequences"))}}};
}

}  // namespace

Figure attribution_figure(const CsvTable& attribution, const Config& config, const FigureSize& size) {
  const Parts parts = parts_of(attribution);
  const int width = size.width - kPlotLeft - kEdge;
  const auto count = static_cast<int>(parts.names.size());
  const int most = groups_in_a_row(count, count, width, least_pitch(parts.names));
  const int plots = (count + most - 1) / most;
  const int groups = (count + plots - 1) / plots;
  const int natural = is_narrow(size) ? kNarrowHeight : kPlotHeight;
  Sheet sheet = start_sheet("attribution", size, caption_of(attribution, config),
                            {plots * kNames + (plots - 1) * kBetween, plots * natural, plots * kLeastHeight});
  Figure& figure = sheet.figure;
  const int height = sheet.plots / plots;
  const BarNumbers numbers = numbers_over(parts.bars, group_width(width, groups));
  const BarRange range = range_of(parts.bars, 0.1, height, numbers);
  set_bars(figure, range, kBarWidth, height);
  std::string tics;
  for (std::size_t i = 0; i < parts.names.size(); ++i)
    tics += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", parts.names[i], i);
  figure.script.line("set xtics ({}) scale 0 font ',{}'", tics, kText);
  const std::string command = bars_command(figure, parts.bars, range, numbers);
  for (int row = 0; row < plots; ++row) {
    const int top = sheet.top + row * (height + kNames + kBetween);
    place(figure, {kPlotLeft, size.width - kEdge, top, top + height}, "part of the logit");
    figure.script.line("set xrange [{}:{}]", row * groups - kGroupEnds, (row + 1) * groups - 1 + kGroupEnds);
    plot(figure, command);
  }
  return std::move(sheet.figure);
}

}  // namespace tapehead
