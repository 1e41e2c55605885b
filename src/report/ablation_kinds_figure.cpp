#include "tapehead/report/ablation_kinds_figure.h"

#include <algorithm>
#include <array>

#include "tapehead/base/require.h"
#include "tapehead/interp/ablation_kinds.h"
#include "tapehead/report/ablation_figure.h"
#include "tapehead/report/bars.h"
#include "tapehead/report/style.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr int kTop = 130;
constexpr int kInductionHeight = 230;
constexpr int kNoiseHeight = 150;
constexpr int kGap = 26;    // between the two
constexpr int kNames = 66;  // under both
constexpr int kBottom = 30;
constexpr int kLeft = 70;
constexpr int kRight = 24;
constexpr int kLeastWidth = 880;
constexpr int kBarPitch = 32;  // that a bar and its number need
constexpr int kBetween = 30;   // from group to group
constexpr int kMostWidth = 1500;
constexpr double kFilled = 0.86;  // of a bar's pitch

constexpr std::array<std::string_view, 5> kColours{"#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7"};

/// A quantity of the table, and the columns that hold it.
struct Quantity {
  std::string_view name;
  std::string_view mean;
  std::string_view low;
  std::string_view high;
};
constexpr Quantity kInduction{"induction", "change_induction", "low", "high"};
constexpr Quantity kNoise{"noise", "change_noise", "noise_low", "noise_high"};

bool is_stand_in(std::string_view kind) { return kind == "zero" || kind == "mean" || kind == "resample"; }

Estimate estimate_at(const CsvTable& table, Index row, const Quantity& quantity) {
  return {table.number(row, quantity.mean), table.number(row, quantity.low),
          table.number(row, quantity.high)};
}

/// How the change in a row disagrees with those of the kinds before it, on the same component.
int mark_at(const CsvTable& table, const std::vector<std::string>& kinds, std::size_t kind, Index component,
            const Quantity& quantity) {
  const auto row_of = [&](std::size_t k) {
    return static_cast<Index>(k) * (table.rows() / static_cast<Index>(kinds.size())) + component;
  };
  Disagreement worst = Disagreement::none;
  for (std::size_t left = 0; left < kind; ++left)
    if (is_stand_in(kinds[left]) && is_stand_in(kinds[kind]))
      worst = std::max(worst, disagreement(estimate_at(table, row_of(left), quantity),
                                           estimate_at(table, row_of(kind), quantity)));
  return worst == Disagreement::sign ? 2 : worst == Disagreement::size ? 1 : 0;
}

std::vector<Bars> bars_of(const CsvTable& table, const std::vector<std::string>& kinds,
                          const Quantity& quantity, double pitch) {
  const Index components = table.rows() / static_cast<Index>(kinds.size());
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
      const Estimate change = estimate_at(table, static_cast<Index>(kind) * components + component, quantity);
      bars.heights.push_back(change.mean);
      bars.low.push_back(change.low);
      bars.high.push_back(change.high);
      bars.marks.push_back(mark_at(table, kinds, kind, component, quantity));
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

/// Above and below all plots.
void explain(Figure& figure, const std::vector<std::string>& kinds, const CsvTable& table) {
  const auto say = [&](int tag, const std::string& text, int x, int y, std::string_view colour) {
    figure.script.line("set label {} {} at screen {}, screen {} left font ',13' textcolor rgb '{}'", tag,
                       gnuplot_text(text), 1.0 * x / figure.width, 1 - 1.0 * y / figure.height, colour);
  };
  int x = kLeft;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    say(40 + static_cast<int>(kind), "■ " + kinds[kind], x, 80, kColours[kind % kColours.size()]);
    x += 44 + 7 * static_cast<int>(kinds[kind].size());
  }
  say(46, "thin lines: 95 % intervals", x, 80, kGrey);
  say(47,
      "of zero, mean and resample: ≠ the interval does not meet that of one to the left, ± the sign is "
      "another",
      kLeft, 102, kInk);
  say(48,
      "with patterns held only values carry the change, with values held only queries and keys" +
          made_of(table),
      kLeft, figure.height - 18, kInk);
}

}  // namespace

std::vector<std::string> kinds_in(const CsvTable& ablations) {
  std::vector<std::string> kinds;
  for (Index row = 0; row < ablations.rows(); ++row)
    if (std::find(kinds.begin(), kinds.end(), ablations.cell(row, "kind")) == kinds.end())
      kinds.push_back(ablations.cell(row, "kind"));
  return kinds;
}

Figure ablation_kinds_figure(const CsvTable& ablations, const Config& config) {
  const std::vector<std::string> kinds = kinds_in(ablations);
  require_same_components(ablations, kinds);
  const int group = static_cast<int>(kinds.size()) * kBarPitch + kBetween;
  const int components = static_cast<int>(ablations.rows()) / static_cast<int>(kinds.size());
  const int of_a_layer = static_cast<int>(config.model.heads) + (config.model.feed_forward > 0 ? 2 : 1);
  const int most = std::max(1, (kMostWidth - kLeft - kRight) / group);
  const int groups = std::min(components, of_a_layer <= most ? of_a_layer * (most / of_a_layer) : most);
  const int plots = (components + groups - 1) / groups;
  const int pair_height = kInductionHeight + kGap + kNoiseHeight + kNames;
  Figure figure =
      start_figure("ablation", std::max(kLeastWidth, kLeft + kRight + groups * group),
                   kTop + plots * pair_height + kBottom,
                   "Change in loss (nats) without a head, by kind of ablation", run_in_words(config));
  explain(figure, kinds, ablations);
  const double pitch = static_cast<double>(kBarPitch) / group;
  std::string tics;
  for (Index row = 0; row < components; ++row)
    tics += fmt::format("{}\"{}\" {}", row == 0 ? "" : ", ", component_tic(ablations, row), row);
  for (const Quantity& quantity : {kInduction, kNoise}) {
    const bool upper = quantity.name == kInduction.name;
    const std::vector<Bars> all_bars = bars_of(ablations, kinds, quantity, pitch);
    const BarRange range = range_of(all_bars, 0.1, upper ? kInductionHeight : kNoiseHeight);
    set_bars(figure, range, kFilled * pitch);
    if (upper)
      figure.script.line("unset xtics");
    else
      figure.script.line("set xtics ({}) nomirror scale 0 font ',13' textcolor rgb '{}'", tics, kInk);
    const std::string command = bars_command(figure, all_bars, range, 9);
    for (int plot = 0; plot < plots; ++plot) {
      const int top = kTop + plot * pair_height + (upper ? 0 : kInductionHeight + kGap);
      place(figure, {kLeft, figure.width - kRight, top, top + (upper ? kInductionHeight : kNoiseHeight)},
            upper ? "on induction positions" : "on noise positions");
      // Labels once drawn stay, and would be drawn again with every plot.
      figure.script.line("set xrange [{}:{}]\n{}\nunset label", plot * groups - 0.55,
                         (plot + 1) * groups - 0.45, command);
    }
  }
  return figure;
}

}  // namespace tapehead
