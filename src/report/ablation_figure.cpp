#include "tapehead/report/ablation_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/report/ablation_kinds_figure.h"
#include "tapehead/report/bars.h"
#include "tapehead/report/lettering.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kPlotHeight = 266;
constexpr int kNarrowHeight = 200;
constexpr int kLeastHeight = 140;
constexpr int kNames = 66;  // under each plot
constexpr int kBetween = 20;
constexpr int kBesideName = 6;      // between the names of two groups
constexpr double kLeastPitch = 39;  // of groups, for their bars
constexpr double kBarWidth = 0.42;  // of a group

std::vector<double> column(const CsvTable& table, std::string_view name) {
  if (table.has(name)) return table.numbers(name);
  return std::vector<double>(static_cast<std::size_t>(table.rows()), std::nan(""));
}

/// Which ablation, and what accuracy is left, under each group.
void name_groups(Figure& figure, const CsvTable& ablations, bool in_short) {
  std::string tics;
  for (Index row = 0; row < ablations.rows(); ++row)
    tics += fmt::format("{}\"{}\\n{{/:Bold {:.0f}{}}}\" {}", row == 0 ? "" : ", ",
                        in_short ? short_component_tic(ablations, row) : component_tic(ablations, row),
                        100 * ablations.number(row, "accuracy_induction"), in_short ? "" : " %%", row);
  figure.script.line("set xtics ({}) scale 0 font ',{}'", tics, kText);
}

/// "What is lost when a head's output is zeroed"
std::string title_of(const CsvTable& ablations) {
  const std::string kind = kinds_in(ablations).front();
  if (kind == "zero") return "What is lost when a head's output is zeroed";
  return fmt::format("What is lost without a head's output, by {} ablation", kind);
}

/// The words above and below all plots.
Caption caption_of(const CsvTable& ablations, double accuracy, bool in_short, const Config& config) {
  const std::string plain =
      std::isfinite(accuracy) ? fmt::format(" ({:.0f} % with every head)", 100 * accuracy) : "";
  const std::string feed_forward = config.model.feed_forward > 0 ? "; ff: its feed-forward output" : "";
  return {.title = title_of(ablations),
          .subtitle = run_in_words(config),
          .key = {{"■ on induction positions", kInductionColour},
                  {"■ on noise positions", kNoiseColour},
                  {"thin lines: 95 % intervals", kGrey}},
          .remarks = {{fmt::format("in bold: accuracy{} on induction positions that is left{}{}",
                                   in_short ? " (%)" : "", plain, made_of(ablations))},
                      {in_short ? "0.1: head 1 of layer 0; all: the layer's heads" + feed_forward : ""}}};
}

/// How the groups of bars stand.
struct GroupLayout {
  int groups;  ///< in a row
  int rows;
  bool in_short;  ///< their names, where a layer in words would not fit into a row
};

GroupLayout layout_of(const CsvTable& ablations, const ModelConfig& model, int width) {
  double pitch = kLeastPitch;
  for (Index row = 0; row < ablations.rows(); ++row)
    pitch = std::max(pitch, kBesideName + width_of_tic(component_tic(ablations, row)));
  const auto count = static_cast<int>(ablations.rows());
  const int of_a_layer = components_a_layer(model);
  const bool in_short = groups_in_a_row(count, of_a_layer, width, pitch) < std::min(count, of_a_layer);
  const int groups = groups_in_a_row(count, of_a_layer, width, in_short ? kLeastPitch : pitch);
  return {groups, (count + groups - 1) / groups, in_short};
}

std::vector<Bars> bars_of(const CsvTable& ablations) {
  return {{"$induction", kInductionColour, -kBarWidth / 2, column(ablations, "change_induction"),
           column(ablations, "low"), column(ablations, "high")},
          {"$noise", kNoiseColour, kBarWidth / 2, column(ablations, "change_noise"),
           column(ablations, "noise_low"), column(ablations, "noise_high")}};
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

double width_of_tic(std::string_view tic) {
  double widest = 0;
  for (std::size_t end = 0; end != std::string_view::npos; tic.remove_prefix(end + 2)) {
    end = tic.find("\\n");
    widest = std::max(widest, text_width(tic.substr(0, end), kText));
    if (end == std::string_view::npos) break;
  }
  return widest;
}

int components_a_layer(const ModelConfig& model) {
  return static_cast<int>(model.heads) + (model.feed_forward > 0 ? 2 : 1);
}

std::string short_component_tic(const CsvTable& ablations, Index row) {
  const std::string& layer = ablations.cell(row, "layer");
  const std::string& head = ablations.cell(row, "head");
  if (head == "all") return layer + " all";
  return head == "feed_forward" ? layer + " ff" : layer + "." + head;
}

Figure ablation_figure(const CsvTable& ablations, double accuracy, const Config& config,
                       const FigureSize& size) {
  if (kinds_in(ablations).size() > 1) return ablation_kinds_figure(ablations, config, size);
  const int width = size.width - kPlotLeft - kEdge;
  const auto [groups, plots, in_short] = layout_of(ablations, config.model, width);
  const int natural = is_narrow(size) ? kNarrowHeight : kPlotHeight;
  Sheet sheet = start_sheet("ablation", size, caption_of(ablations, accuracy, in_short, config),
                            {plots * kNames + (plots - 1) * kBetween, plots * natural, plots * kLeastHeight});
  Figure& figure = sheet.figure;
  const int height = sheet.plots / plots;
  const std::vector<Bars> all_bars = bars_of(ablations);
  const BarNumbers numbers = numbers_over(all_bars, group_width(width, groups));
  const BarRange range = range_of(all_bars, 0.1, height, numbers);
  set_bars(figure, range, kBarWidth, height);
  name_groups(figure, ablations, in_short);
  const std::string command = bars_command(figure, all_bars, range, numbers);
  for (int row = 0; row < plots; ++row) {
    const int top = sheet.top + row * (height + kNames + kBetween);
    place(figure, {kPlotLeft, size.width - kEdge, top, top + height}, "change in loss (nats)");
    figure.script.line("set xrange [{}:{}]", row * groups - kGroupEnds, (row + 1) * groups - 1 + kGroupEnds);
    plot(figure, command);
  }
  return std::move(sheet.figure);
}

}  // namespace tapehead
