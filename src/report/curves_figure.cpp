#include "tapehead/report/curves_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/report/band.h"
#include "tapehead/report/floor_lines.h"
#include "tapehead/report/lettering.h"
#include "tapehead/report/line_ends.h"
#include "tapehead/report/sheet.h"
#include "tapehead/study/formation_report.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kGap = 42;  // between the panels
constexpr double kAccuracyShare = 0.36;
constexpr PlotHeights kPage{kGap + kXAxis, 498, 260};
constexpr PlotHeights kNarrow{kGap + kXAxis, 400, 260};

struct Kind {
  std::string_view column;
  std::string_view label;
  std::string_view colour;
  std::string_view thin;  ///< a run's line
  std::string_view band;
};
constexpr Kind kAccuracy{"accuracy_induction", "induction", kInductionColour, "#8fc1de", "#c3ddef"};
constexpr Kind kLosses[] = {{"loss_noise", "noise", kNoiseColour, "#f0b48c", "#f7d3bb"},
                            {"loss", "all positions", kInk, "#b0b0b0", "#d6d6d6"},
                            {"loss_induction", "induction", kInductionColour, "#8fc1de", "#c3ddef"}};

/// A line a run; an empty line ends one.
void write_lines(Figure& figure, std::string_view block, const std::vector<const CsvTable*>& runs,
                 std::string_view column) {
  figure.script.line("{} << END", block);
  for (const CsvTable* run : runs) {
    for (Index row = 0; row < run->rows(); ++row)
      if (const double value = run->number(row, column); std::isfinite(value))
        figure.script.line("{} {}", run->number(row, "step"), value);
    figure.script.line("");
  }
  figure.script.line("END");
}

/// Band, thin lines and median of one kind, from behind to the front, as parts of a plot command.
struct Layers {
  std::string band;
  std::string lines;
  std::string median;
};

Layers layers_of(Figure& figure, std::span<const CsvTable> runs, const Kind& kind, int scale) {
  std::vector<const CsvTable*> with_values;
  std::vector<const CsvTable*> with_one;  // which is a point, not a line
  for (const CsvTable& run : runs) {
    const auto values = values_in(run, kind.column);
    if (values > 0) with_values.push_back(&run);
    if (values == 1) with_one.push_back(&run);
  }
  if (with_values.empty()) return {};
  const std::string name = fmt::format("${}", kind.column);
  write_lines(figure, name + "_runs", with_values, kind.column);
  Layers layers;
  layers.lines = fmt::format("{}_runs using 1:({}*$2) with lines linewidth 0.5 linecolor rgb '{}', ", name,
                             scale, kind.thin);
  if (!with_one.empty()) {
    write_lines(figure, name + "_points", with_one, kind.column);
    layers.lines +=
        fmt::format("{}_points using 1:({}*$2) with points pointtype 7 pointsize 0.6 linecolor rgb '{}', ",
                    name, scale, kind.thin);
  }
  const Band band = drawn_band(runs, kind.column);
  if (band.steps.empty()) return layers;
  figure.script.data(name, {band.steps, band.lower, band.median, band.upper});
  layers.band = fmt::format(
      "{0} using 1:({1}*$2):({1}*$4) with filledcurves fillcolor rgb '{2}' fillstyle solid 1 noborder, ",
      name, scale, kind.band);
  layers.median = fmt::format("{} using 1:({}*$3) with {} linewidth 2.6 linecolor rgb '{}', ", name, scale,
                              line_style(band.median), kind.colour);
  return layers;
}

std::string text_of(const Quantile& quantile) {
  return quantile.value ? fmt::format("step {:.0f}", *quantile.value)
                        : fmt::format("not by step {}", quantile.not_by);
}

std::string words_of(const CensoredQuartiles& halves) {
  if (halves.known == 0) return fmt::format("above 50 %: none of {} runs", halves.runs);
  const std::string lower = text_of(halves.lower);
  const std::string upper = text_of(halves.upper);
  return fmt::format("above 50 %: {} of {} runs; ", halves.known, halves.runs) +
         (lower == upper
              ? fmt::format("median and quartiles {}", lower)
              : fmt::format("median {}; quartiles {} and {}", text_of(halves.median), lower, upper));
}

/// How many runs formed and when half of them had, to be written above the accuracy, and those that never
/// did.
struct Formed {
  std::vector<ColouredWords> lines;
  std::vector<const CsvTable*> never;
};

Formed formed_of(std::span<const CsvTable> runs, int width) {
  Formed formed;
  std::vector<Censored> halves;
  for (const CsvTable& run : runs) {
    const Formation formation = formation_of(run);
    halves.push_back({{}, formation.last_step});
    if (formation.half)
      halves.back().value = static_cast<double>(*formation.half);
    else if (values_in(run, kAccuracy.column) > 0)
      formed.never.push_back(&run);
  }
  const std::string words = words_of(quartiles(halves));
  const int room = width - kPlotLeft - kEdge;
  for (std::string& line : wrap(words, room, kText))
    formed.lines.push_back({std::move(line), kInductionColour});
  if (!formed.never.empty())
    formed.lines.push_back({fmt::format("× {} not formed", formed.never.size()), kNotFormedColour});
  return formed;
}

/// The runs that never formed, as a plot command's part.
std::string mark_never_formed(Figure& figure, const std::vector<const CsvTable*>& never) {
  if (never.empty()) return "";
  std::vector<std::vector<double>> ends(2);
  for (const CsvTable* run : never) {
    ends[0].push_back(run->number(run->rows() - 1, "step"));
    ends[1].push_back(run->numbers(kAccuracy.column).back());
  }
  write_lines(figure, "$not_formed", never, kAccuracy.column);
  figure.script.data("$ends", ends);
  return fmt::format(
      "$not_formed using 1:(100*$2) with lines linewidth 1.2 linecolor rgb '{0}', $ends using 1:(100*$2) "
      "with points pointtype 2 pointsize 0.8 linewidth 1.6 linecolor rgb '{0}', ",
      kNotFormedColour);
}

double last_step_of(std::span<const CsvTable> runs) {
  double last = 0;
  for (const CsvTable& run : runs) last = std::max(last, run.number(run.rows() - 1, "step"));
  return last;
}

/// Whether some run goes on after the last step that all have.
bool ends_early(const Band& band, std::span<const CsvTable> runs) {
  return !band.steps.empty() && band.steps.back() < last_step_of(runs);
}

/// Where there is no median: the kind's label at the end of the longest run that has values.
std::vector<EndLabel> label_of_lines(std::span<const CsvTable> runs, const Kind& kind,
                                     std::string_view name) {
  std::pair<double, double> last{-1, 0};  // step and value
  for (const CsvTable& run : runs)
    for (Index row = 0; row < run.rows() && run.has(kind.column); ++row)
      if (const double value = run.number(row, kind.column); std::isfinite(value))
        last = std::max(last, {run.number(row, "step"), value});
  if (last.first < 0) return {};
  return {{last.second, std::string(name), kind.colour}};
}

/// The label of a median at its end.
std::vector<EndLabel> median_label(std::span<const CsvTable> runs, const Kind& kind, int scale,
                                   std::string_view format, bool narrow) {
  const Band band = drawn_band(runs, kind.column);
  const std::string_view name = narrow ? kind.label.substr(0, kind.label.find(' ')) : kind.label;
  if (band.steps.empty()) return label_of_lines(runs, kind, name);
  const double last = band.median.back();
  std::string text = fmt::format("{} ", name) + fmt::format(fmt::runtime(format), scale * last);
  if (ends_early(band, runs))
    text += fmt::format("{}{:.0f}{}", narrow ? " (" : " at step ", band.steps.back(), narrow ? ")" : "");
  return {{last, std::move(text), kind.colour}};
}

/// What stands at the lines' ends in the two panels, and the floors.
struct Labels {
  std::vector<EndLabel> accuracy;
  std::vector<EndLabel> losses;
  std::string floors = {};  ///< parts of a plot command
};

Labels labels_of(std::span<const CsvTable> runs, const CsvTable& floors, Index vocabulary, bool narrow) {
  Labels labels{median_label(runs, kAccuracy, 100, "{:.1f} %", narrow), {chance_label(vocabulary, narrow)}};
  for (const Kind& kind : kLosses) {
    labels.floors += floor_lines(floors, kind.column, kind.colour, kind.thin, labels.losses, narrow);
    for (EndLabel& label : median_label(runs, kind, 1, "{:.2f}", narrow))
      labels.losses.push_back(std::move(label));
  }
  return labels;
}

void plot_accuracy(Figure& figure, const Panel& panel, std::span<const CsvTable> runs, const Formed& formed,
                   const std::vector<EndLabel>& labels) {
  place(figure, panel, "accuracy (%)");
  figure.script.line("set yrange [0:100]\nset ytics {}\nset format x ''", panel.height() > 130 ? 25 : 50);
  double y = panel.top - 12 - kLine * (static_cast<double>(formed.lines.size()) - 1);
  for (const ColouredWords& line : formed.lines) {
    write(figure, line.text, panel.left, y, {.colour = line.colour});
    y += kLine;
  }
  const std::string marks = mark_never_formed(figure, formed.never);
  const Layers layers = layers_of(figure, runs, kAccuracy, 100);
  label_line_ends(figure, panel, 0, 1, labels);
  plot(figure, fmt::format("{}{}{}{}NaN", layers.band, layers.lines, marks, layers.median));
}

double highest_loss(std::span<const CsvTable> runs, double chance) {
  double highest = chance;
  for (const Kind& kind : kLosses)
    for (const CsvTable& run : runs)
      if (values_in(run, kind.column) > 0)
        for (const double loss : run.numbers(kind.column))
          if (std::isfinite(loss)) highest = std::max(highest, loss);
  return std::ceil(2 * (highest + 0.1)) / 2;
}

void plot_losses(Figure& figure, const Panel& panel, std::span<const CsvTable> runs, const Labels& labels,
                 std::string_view steps) {
  const double chance = labels.losses.front().y;
  const double highest = highest_loss(runs, chance);
  place(figure, panel, "loss (nats)");
  set_y_axis(figure, panel, 0, highest);
  figure.script.line("set format x '%g'");
  label_x_axis(figure, panel, steps);
  Layers all;
  for (const Kind& kind : kLosses) {
    const Layers layers = layers_of(figure, runs, kind, 1);
    all.band += layers.band;
    all.lines += layers.lines;
    all.median += layers.median;
  }
  label_line_ends(figure, panel, 0, highest, labels.losses);
  plot(figure, fmt::format("{}{}{}{}{} with lines linewidth 1 dashtype 2 linecolor rgb '{}'", all.band,
                           labels.floors, all.lines, all.median, chance, kGrey));
}

std::string in_words(std::span<const Config> configs) {
  const std::vector<std::string> differing = differing_fields_but_seeds(configs);
  if (differing.empty()) return runs_in_words(configs.front());
  return fmt::format("the runs differ in {}{}", differing.front(),
                     differing.size() > 1 ? fmt::format(" and {} more", differing.size() - 1) : "");
}

/// The label of the step axis.
std::string steps_in_words(std::span<const Config> configs) {
  const auto tokens = [](const Config& config) { return config.train.batch * config.task.length; };
  const Index first = tokens(configs.front());
  const bool is_common = std::ranges::all_of(configs, [&](const Config& c) { return tokens(c) == first; });
  return is_common ? fmt::format("training step ({} tokens each)", first) : "training step";
}

bool has_median(std::span<const CsvTable> runs) {
  return std::ranges::any_of(kLosses,
                             [&](const Kind& kind) { return !drawn_band(runs, kind.column).steps.empty(); });
}

}  // namespace

Figure curves_figure(std::span<const CsvTable> runs, const CsvTable& floors, std::span<const Config> configs,
                     const FigureSize& size) {
  require(!runs.empty() && runs.size() == configs.size(),
          "[figures] expected a config for each of at least one run, got {} and {}", configs.size(),
          runs.size());
  for (const CsvTable& run : runs)
    require(run.rows() > 0, "[figures] expected at least one evaluation of every run");
  const bool narrow = is_narrow(size);
  const Config& config = configs.front();
  const Labels labels = labels_of(runs, floors, config.model.vocabulary, narrow);
  const Formed formed = task_kind(config.task.name).repeats ? formed_of(runs, size.width) : Formed{};
  const int right =
      std::min(right_of_plots(size.width, labels.accuracy), right_of_plots(size.width, labels.losses));
  PlotHeights heights = narrow ? kNarrow : kPage;
  const int above = kLine * static_cast<int>(formed.lines.size());
  heights.around += above;
  Caption caption{
      .title = fmt::format("Learning curves of {} run{}{}", runs.size(), runs.size() == 1 ? "" : "s",
                           has_median(runs) ? ": median in bold, quartiles shaded"
                                            : ", evaluated at different steps: no median"),
      .subtitle = in_words(configs)};
  if (narrow && floors.rows() > 0)
    caption.remarks.push_back({"dashed: guessing; thin level lines: the losses of the best predictors"});
  Sheet sheet = start_sheet("curves", size, caption, heights);
  const int top = sheet.top + above;
  const int middle = top + static_cast<int>(kAccuracyShare * sheet.plots);
  const Panel upper{kPlotLeft, right, top, middle};
  const Panel lower{kPlotLeft, right, middle + kGap, top + sheet.plots + kGap};
  set_step_axis(sheet.figure, upper, last_step_of(runs));
  plot_accuracy(sheet.figure, upper, runs, formed, labels.accuracy);
  plot_losses(sheet.figure, lower, runs, labels, steps_in_words(configs));
  return std::move(sheet.figure);
}

}  // namespace tapehead
