#include "tapehead/report/ablation_kinds_figure.h"

#include <algorithm>
#include <array>

#include "tapehead/base/require.h"
#include "tapehead/report/ablation_figure.h"
#include "tapehead/report/ablation_marks.h"
#include "tapehead/report/bars.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kPairHeight = 380;  // of the plots on induction and on noise positions
constexpr int kNarrowHeight = 330;
constexpr int kLeastHeight = 260;
constexpr double kInductionShare = 0.6;
constexpr int kGap = 26;       // between the two
constexpr int kNames = 46;     // under both
constexpr int kBetween = 20;   // from pair to pair
constexpr int kBarPitch = 16;  // that a bar and its upright number need
constexpr int kBetweenGroups = 20;
constexpr int kBesideName = 6;
constexpr double kFilled = 0.86;  // of a bar's pitch

constexpr std::array<std::string_view, 5> kColours{"#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7"};

/// What Bars shows of a disagreement.
int mark_of(Disagreement disagreement) {
  return disagreement == Disagreement::sign ? 2 : disagreement == Disagreement::size ? 1 : 0;
}

std::vector<Bars> bars_of(const CsvTable& table, const std::vector<std::string>& kinds,
                          const AblationQuantity& quantity, double pitch) {
  const Index components = table.rows() / static_cast<Index>(kinds.size());
  const std::vector<Disagreement> marks = disagreements(table, quantity);
  std::vector<Bars> all_bars;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const double place = static_cast<double>(kind) - 0.5 * static_cast<double>(kinds.size() - 1);
    Bars bars{fmt::format("${}{}", quantity.name, kind),
              kColours[kind % kColours.size()],
              pitch * place,
              {},
              {},
              {},
              {}};
    for (Index component = 0; component < components; ++component) {
      const Index row = static_cast<Index>(kind) * components + component;
      bars.heights.push_back(table.number(row, quantity.mean));
      bars.low.push_back(table.number(row, quantity.low));
      bars.high.push_back(table.number(row, quantity.high));
      bars.marks.push_back(mark_of(marks[static_cast<std::size_t>(row)]));
    }
    all_bars.push_back(std::move(bars));
  }
  return all_bars;
}

void require_same_components(const CsvTable& table, const std::vector<std::string>& kinds) {
  const auto count = static_cast<Index>(kinds.size());
  const Index components = table.rows() / count;
  bool same = components * count == table.rows();
  for (Index row = 0; same && row < table.rows(); ++row)
    same = table.cell(row, "kind") == kinds[static_cast<std::size_t>(row / components)] &&
           component_tic(table, row) == component_tic(table, row % components);
  require(same, "[figure] expected the same components for every kind of ablation, one kind after the other");
}

/// The words above and below all plots.
Caption caption_of(const std::vector<std::string>& kinds, const CsvTable& table, const Config& config) {
  Caption caption{.title = "Change in loss (nats) without a head, by kind of ablation",
                  .subtitle = run_in_words(config)};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    caption.key.push_back({"■ " + kinds[kind], kColours[kind % kColours.size()]});
  caption.key.push_back({"thin lines: 95 % intervals", kGrey});
  caption.remarks = {
      {"of zero, mean and resample: ≠ the interval does not meet that of one to the left, ± the sign is "
       "another"},
      {"with patterns held only values carry the change, with values held only queries and keys" +
       made_of(table)}};
  return caption;
}

/// How the groups of a figure stand.
struct GroupLayout {
  int components;
  int groups;  ///< in a row
  int rows;
  double pitch;  ///< of bars, in groups
};

GroupLayout layout_of(const CsvTable& table, const std::vector<std::string>& kinds, const ModelConfig& model,
                      int width) {
  const auto count = static_cast<int>(kinds.size());
  const int components = static_cast<int>(table.rows()) / count;
  double least = count * kBarPitch + kBetweenGroups;
  for (Index row = 0; row < components; ++row)
    least = std::max(least, kBesideName + width_of_tic(component_tic(table, row)));
  const int groups = groups_in_a_row(components, components_a_layer(model), width, least);
  const double room = group_width(width, groups);
  return {components, groups, (components + groups - 1) / groups, (room - kBetweenGroups) / count / room};
}

std::string tics_of(const CsvTable& table, Index components) {
  std::string tics;
  for (Index row = 0; row < components; ++row)
    tics += fmt::format("{}\"{}\" {}", row == 0 ? "" : ", ", component_tic(table, row), row);
  return fmt::format("set xtics ({}) nomirror scale 0 font ',{}' textcolor rgb '{}'", tics, kText, kInk);
}

}  // namespace

std::vector<std::string> kinds_in(const CsvTable& ablations) {
  std::vector<std::string> kinds;
  for (Index row = 0; row < ablations.rows(); ++row)
    if (std::find(kinds.begin(), kinds.end(), ablations.cell(row, "kind")) == kinds.end())
      kinds.push_back(ablations.cell(row, "kind"));
  return kinds;
}

Figure ablation_kinds_figure(const CsvTable& ablations, const Config& config, const FigureSize& size) {
  const std::vector<std::string> kinds = kinds_in(ablations);
  require_same_components(ablations, kinds);
  const int width = size.width - kPlotLeft - kEdge;
  const GroupLayout layout = layout_of(ablations, kinds, config.model, width);
  const int around = kGap + kNames + kBetween;
  Sheet sheet = start_sheet(
      "ablation", size, caption_of(kinds, ablations, config),
      {layout.rows * around - kBetween, layout.rows * (is_narrow(size) ? kNarrowHeight : kPairHeight),
       layout.rows * kLeastHeight});
  Figure& figure = sheet.figure;
  const int pair = sheet.plots / layout.rows;
  const int induction_height = static_cast<int>(kInductionShare * pair);
  for (const AblationQuantity& quantity : {kOnInduction, kOnNoise}) {
    const bool upper = quantity.name == kOnInduction.name;
    const int height = upper ? induction_height : pair - induction_height;
    const std::vector<Bars> all_bars = bars_of(ablations, kinds, quantity, layout.pitch);
    const BarNumbers numbers = numbers_over(all_bars, group_width(width, layout.groups));
    const BarRange range = range_of(all_bars, 0.1, height, numbers);
    set_bars(figure, range, kFilled * layout.pitch, height);
    figure.script.line("{}", upper ? "unset xtics" : tics_of(ablations, layout.components));
    const std::string command = bars_command(figure, all_bars, range, numbers);
    for (int row = 0; row < layout.rows; ++row) {
      const int top = sheet.top + row * (pair + around) + (upper ? 0 : induction_height + kGap);
      place(figure, {kPlotLeft, size.width - kEdge, top, top + height},
            upper ? "on induction (nats)" : "on noise (nats)");
      figure.script.line("set xrange [{}:{}]", row * layout.groups - kGroupEnds,
                         (row + 1) * layout.groups - 1 + kGroupEnds);
      plot(figure, command);
    }
  }
  return std::move(sheet.figure);
}

}  // namespace tapehead
