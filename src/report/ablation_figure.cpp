#include "tapehead/report/ablation_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/report/ablation_kinds_figure.h"
#include "tapehead/report/bars.h"
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

std::vector<double> column(const CsvTable& table, std::string_view name) {
  if (table.has(name)) return table.numbers(name);
  return std::vector<double>(static_cast<std::size_t>(table.rows()), std::nan(""));
}

/// How many groups of bars stand in one plot: as many layers as have room.
int groups_in_a_plot(const ModelConfig& model) {
  const int of_a_layer = static_cast<int>(model.heads) + (model.feed_forward > 0 ? 2 : 1);
  return of_a_layer * std::max(1, kGroups / of_a_layer);
}

/// Which ablation, and what accuracy is left, under each group.
void name_groups(Figure& figure, const CsvTable& ablations) {
  std::string tics;
  for (Index row = 0; row < ablations.rows(); ++row)
    tics +=
        fmt::format("{}\"{}\\n{{/:Bold {:.0f} %%}}\" {}", row == 0 ? "" : ", ", component_tic(ablations, row),
                    100 * ablations.number(row, "accuracy_induction"), row);
  figure.script.line("set xtics ({}) scale 0 font ',13'", tics);
}

/// "What is lost when a head's output is zeroed"
std::string title_of(const CsvTable& ablations) {
  const std::string kind = kinds_in(ablations).front();
  if (kind == "zero") return "What is lost when a head's output is zeroed";
  return fmt::format("What is lost without a head's output, by {} ablation", kind);
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

}  // namespace

std::string component_tic(const CsvTable& ablations, Index row) {
  const std::string& head = ablations.cell(row, "head");
  return fmt::format("layer {}\\n{}", ablations.cell(row, "layer"),
                     head == "all"            ? "all heads"
                     : head == "feed_forward" ? "feed-forward"
                                              : "head " + head);
}

std::string made_of(const CsvTable& table) {
  std::string text;
  if (table.has("step")) text += "; step " + table.cell(0, "step");
  if (table.has("sequences")) text += ", " + table.cell(0, "sequences") + " sequences";
  return text;
}

Figure ablation_figure(const CsvTable& ablations, double accuracy, const Config& config) {
  if (kinds_in(ablations).size() > 1) return ablation_kinds_figure(ablations, config);
  const std::vector<Bars> all_bars{
      {"$induction", kInductionColour, -kBarWidth / 2, column(ablations, "change_induction"),
       column(ablations, "low"), column(ablations, "high")},
      {"$noise", kNoiseColour, kBarWidth / 2, column(ablations, "change_noise"),
       column(ablations, "noise_low"), column(ablations, "noise_high")}};
  const BarRange range = range_of(all_bars, 0.1, kPlotHeight);
  const auto rows = static_cast<int>(ablations.rows());
  const int groups = std::min(rows, groups_in_a_plot(config.model));
  const int plots = (rows + groups - 1) / groups;
  Figure figure = start_figure("ablation", std::max(kLeastWidth, kLeft + kRight + groups * kGroupWidth),
                               kTop + plots * (kPlotHeight + kNames) + kBottom, title_of(ablations),
                               run_in_words(config));
  set_bars(figure, range, kBarWidth);
  name_groups(figure, ablations);
  explain(figure, ablations, accuracy);
  const std::string command = bars_command(figure, all_bars, range, groups > 8 ? 11 : 12);
  for (int plot = 0; plot < plots; ++plot) {
    const int top = kTop + plot * (kPlotHeight + kNames);
    place(figure, {kLeft, figure.width - kRight, top, top + kPlotHeight}, "change in loss (nats)");
    figure.script.line("set xrange [{}:{}]\n{}", plot * groups - 0.6, (plot + 1) * groups - 0.4, command);
  }
  return figure;
}

}  // namespace tapehead
