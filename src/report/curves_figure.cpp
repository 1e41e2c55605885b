#include "tapehead/report/curves_figure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tapehead/base/require.h"
#include "tapehead/report/floor_lines.h"
#include "tapehead/report/style.h"
#include "tapehead/study/formation_report.h"

namespace tapehead {

namespace {

constexpr int kWidth = 880;
constexpr int kStepRoom = 80;  // wider where labels name their step
constexpr int kHeight = 700;
constexpr Panel kAccuracyPanel{70, 722, 104, 284};
constexpr Panel kLossPanel{70, 722, 326, 644};
constexpr std::string_view kNotFormedColour = "#cc79a7";

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

/// How many evaluations of a run have a value.
std::ptrdiff_t values_in(const CsvTable& run, std::string_view column) {
  if (!run.has(column)) return 0;
  return std::ranges::count_if(run.numbers(column), [](double value) { return std::isfinite(value); });
}

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
  const Band band = band_of(runs, kind.column);
  if (band.steps.empty()) return layers;
  figure.script.data(name, {band.steps, band.lower, band.median, band.upper});
  layers.band = fmt::format(
      "{0} using 1:({1}*$2):({1}*$4) with filledcurves fillcolor rgb '{2}' fillstyle solid 1 noborder, ",
      name, scale, kind.band);
  layers.median = fmt::format("{} using 1:({}*$3) with {} linewidth 2.6 linecolor rgb '{}', ", name, scale,
                              line_style(band.median), kind.colour);
  return layers;
}

/// A panel's words, where its plot has them: above it, in `colour`.
void say_above(Figure& figure, int tag, const std::string& text, double x, const char* side,
               std::string_view colour) {
  figure.script.line("set label {} {} at graph {}, graph 1 {} offset 0,0.8 font ',13' textcolor rgb '{}'",
                     tag, gnuplot_text(text), x, side, colour);
}

std::string text_of(const Quantile& quantile) {
  return quantile.value ? fmt::format("step {:.0f}", *quantile.value)
                        : fmt::format("not by step {}", quantile.not_by);
}

/// How many runs formed and when half of them had, above the accuracy; those that never did, as a plot
/// command's part.
std::string mark_formed(Figure& figure, std::span<const CsvTable> runs) {
  std::vector<Censored> halves;
  std::vector<const CsvTable*> not_formed;
  std::vector<std::vector<double>> ends(2);
  for (const CsvTable& run : runs) {
    const Formation formation = formation_of(run);
    halves.push_back({{}, formation.last_step});
    if (formation.half) {
      halves.back().value = static_cast<double>(*formation.half);
    } else if (values_in(run, kAccuracy.column) > 0) {
      not_formed.push_back(&run);
      ends[0].push_back(static_cast<double>(formation.last_step));
      ends[1].push_back(run.numbers(kAccuracy.column).back());
    }
  }
  const CensoredQuartiles over_runs = quartiles(halves);
  say_above(figure, 30,
            fmt::format("above 50 %: {} of {} runs; median {}; quartiles {} and {}", over_runs.known,
                        over_runs.runs, text_of(over_runs.median), text_of(over_runs.lower),
                        text_of(over_runs.upper)),
            0, "left", kInductionColour);
  if (not_formed.empty()) return "";
  say_above(figure, 31, fmt::format("× {} not formed", not_formed.size()), 1.012, "left", kNotFormedColour);
  write_lines(figure, "$not_formed", not_formed, kAccuracy.column);
  figure.script.data("$ends", ends);
  return fmt::format(
      "$not_formed using 1:(100*$2) with lines linewidth 1.2 linecolor rgb '{0}', $ends using 1:(100*$2) "
      "with "
      "points pointtype 2 pointsize 0.8 linewidth 1.6 linecolor rgb '{0}', ",
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

/// The label of a median at its end; none where there is no median.
std::vector<EndLabel> median_label(std::span<const CsvTable> runs, const Kind& kind, int scale,
                                   std::string_view format) {
  const Band band = band_of(runs, kind.column);
  if (band.steps.empty()) return {};
  const double last = band.median.back();
  std::string text = fmt::format("{} ", kind.label) + fmt::format(fmt::runtime(format), scale * last);
  if (ends_early(band, runs)) text += fmt::format(" at step {:.0f}", band.steps.back());
  return {{last, std::move(text), kind.colour}};
}

void plot_accuracy(Figure& figure, std::span<const CsvTable> runs, const Config& config) {
  place(figure, kAccuracyPanel, "accuracy (%)");
  figure.script.line("set yrange [0:100]\nset ytics 0,25,100\nset format x ''");
  const bool forms = task_kind(config.task.name).repeats;
  const std::string marks = forms ? mark_formed(figure, runs) : "";
  const Layers layers = layers_of(figure, runs, kAccuracy, 100);
  label_line_ends(figure, kAccuracyPanel, 0, 1, median_label(runs, kAccuracy, 100, "{:.1f} %"));
  figure.script.line("plot {}{}{}{}NaN", layers.band, layers.lines, marks, layers.median);
}

void plot_losses(Figure& figure, std::span<const CsvTable> runs, const CsvTable& floors,
                 const Config& config) {
  const double chance = std::log(static_cast<double>(config.model.vocabulary));
  double highest = chance;
  for (const Kind& kind : kLosses)
    for (const CsvTable& run : runs)
      if (values_in(run, kind.column) > 0)
        for (const double loss : run.numbers(kind.column))
          if (std::isfinite(loss)) highest = std::max(highest, loss);
  highest = std::ceil(2 * (highest + 0.1)) / 2;
  figure.script.line("unset label 30\nunset label 31");
  for (int label = 100; label < 103; ++label) figure.script.line("unset label {}", label);
  place(figure, kLossPanel, "loss (nats)");
  figure.script.line("set yrange [0:{}]\nset ytics 1\nset format x '%g'", highest);
  label_x_axis(figure, kLossPanel,
               fmt::format("training step ({} tokens each)", config.train.batch * config.task.length));
  std::vector<EndLabel> labels{
      {chance, fmt::format("guessing: ln {} = {:.2f}", config.model.vocabulary, chance), kGrey}};
  Layers all;
  std::string lowest;
  for (const Kind& kind : kLosses) {
    const Layers layers = layers_of(figure, runs, kind, 1);
    all.band += layers.band;
    all.lines += layers.lines;
    all.median += layers.median;
    lowest += floor_lines(floors, kind.column, kind.colour, kind.thin, labels);
    for (EndLabel& label : median_label(runs, kind, 1, "{:.2f}")) labels.push_back(std::move(label));
  }
  label_line_ends(figure, kLossPanel, 0, highest, labels);
  figure.script.line("plot {}{}{}{}{} with lines linewidth 1 dashtype 2 linecolor rgb '{}'", all.band, lowest,
                     all.lines, all.median, chance, kGrey);
}

std::string in_words(std::span<const Config> configs) {
  const std::vector<std::string> differing = differing_fields_but_seeds(configs);
  if (differing.empty()) return runs_in_words(configs.front());
  return fmt::format("the runs differ in {}{}", differing.front(),
                     differing.size() > 1 ? fmt::format(" and {} more", differing.size() - 1) : "");
}

}  // namespace

Band band_of(std::span<const CsvTable> runs, std::string_view column) {
  std::map<double, std::vector<Censored>> values;
  std::size_t with_values = 0;
  for (const CsvTable& run : runs) {
    if (values_in(run, column) == 0) continue;
    ++with_values;
    for (Index row = 0; row < run.rows(); ++row)
      if (const double value = run.number(row, column); std::isfinite(value))
        values[run.number(row, "step")].push_back({value});
  }
  Band band;
  for (const auto& [step, of_runs] : values) {
    if (of_runs.size() < with_values) continue;
    band.steps.push_back(step);
    band.lower.push_back(*quantile(of_runs, 0.25).value);
    band.median.push_back(*quantile(of_runs, 0.5).value);
    band.upper.push_back(*quantile(of_runs, 0.75).value);
  }
  return band;
}

Figure curves_figure(std::span<const CsvTable> runs, const CsvTable& floors,
                     std::span<const Config> configs) {
  require(!runs.empty() && runs.size() == configs.size(),
          "[figures] expected a config for each of at least one run, got {} and {}", configs.size(),
          runs.size());
  for (const CsvTable& run : runs)
    require(run.rows() > 0, "[figures] expected at least one evaluation of every run");
  const auto has_long_label = [&](const auto& kind) { return ends_early(band_of(runs, kind.column), runs); };
  const bool is_wide = has_long_label(kAccuracy) || std::ranges::any_of(kLosses, has_long_label);
  Figure figure = start_figure("curves", kWidth + (is_wide ? kStepRoom : 0), kHeight,
                               fmt::format("Learning curves of {} run{}: median in bold, quartiles shaded",
                                           runs.size(), runs.size() == 1 ? "" : "s"),
                               in_words(configs));
  set_step_axis(figure, last_step_of(runs));
  plot_accuracy(figure, runs, configs.front());
  plot_losses(figure, runs, floors, configs.front());
  return figure;
}

}  // namespace tapehead
