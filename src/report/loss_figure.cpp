#include "tapehead/report/loss_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "tapehead/report/floor_lines.h"
#include "tapehead/report/formation_window.h"
#include "tapehead/report/notes.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kGap = 36;  // between the panels
constexpr PlotHeights kPage{kGap + kXAxis, 432, 230};
constexpr PlotHeights kNarrow{kGap + kXAxis, 330, 230};
constexpr double kLossShare = 0.73;  // of the plots' height

struct Line {
  std::string_view column;
  std::string_view label;
  std::string_view colour;
  std::string_view floor_colour;  ///< a tint of it
};
constexpr Line kLines[] = {{"loss", "all positions", kInk, "#a8a8a8"},
                           {"loss_induction", "induction", kInductionColour, "#8fc1de"},
                           {"loss_noise", "noise", kNoiseColour, "#f0b48c"}};

/// The last value there is, or NaN.
double last_of(const std::vector<double>& values) {
  const auto found = std::find_if(values.rbegin(), values.rend(), [](double v) { return std::isfinite(v); });
  return found == values.rend() ? std::nan("") : *found;
}

double value_at(const CsvTable& metrics, std::string_view column, Index step) {
  const std::vector<double> steps = metrics.numbers("step");
  const auto row = std::find(steps.begin(), steps.end(), static_cast<double>(step)) - steps.begin();
  return metrics.numbers(column)[static_cast<std::size_t>(row)];
}

std::string start_top_end(Index start, Index top, const std::optional<Index>& end) {
  return fmt::format("start {}, top {}, {}", start, top, end ? fmt::format("end {}", *end) : "no end yet");
}

std::string hump_in_words(const NoiseHump& hump) {
  return fmt::format("hump on noise, +{:.2f} nats (medians of three): {}", hump.height,
                     start_top_end(hump.start, hump.top, hump.end));
}

std::string bump_in_words(const Bump& bump) {
  return "bump, bends downward: " + start_top_end(bump.start, bump.top, bump.end);
}

/// The level before as a dotted line, the height as an arrow, and the data block $hump for three points.
void mark_hump(Figure& figure, NoteRoom& room, const NoiseHump& hump, double last_step) {
  const double top = hump.level + hump.height;
  const Index end = hump.end.value_or(hump.top);
  figure.script.line(
      "set arrow 21 from first {0}, first {1} to first {2}, first {1} nohead front linecolor rgb "
      "'{3}' linewidth 0.9 dashtype 3",
      hump.start, hump.level, hump.end ? static_cast<double>(end) : last_step, kNoiseColour);
  figure.script.line(
      "set arrow 20 from first {0}, first {1} to first {0}, first {2} heads front size screen "
      "{4},30 linecolor rgb '{3}' linewidth 0.9",
      hump.top, hump.level, top, kNoiseColour, 5.3 / figure.width);
  // The marks stand at the medians that are measured, not at single evaluations.
  figure.script.data(
      "$hump", {{static_cast<double>(hump.start), static_cast<double>(hump.top), static_cast<double>(end)},
                {hump.level, top, hump.end ? hump.level + 0.1 * hump.height : top}});
  const double part = static_cast<double>(hump.top) / last_step;
  const double before = part < 0.3 ? 0 : part < 0.7 ? 0.5 : 1;
  const std::string words = hump_in_words(hump);
  room.write(figure, room.is_wide_enough(words) ? words : fmt::format("hump +{:.2f}", hump.height),
             static_cast<double>(hump.top), top, std::array{Spot{0, 19, before}, Spot{0, 30, before}},
             kNoiseColour);
}

/// A broad grey line for behind the loss where it bends downward, as part of a plot command, and a label.
std::string mark_bump(Figure& figure, NoteRoom& room, const Bump& bump, const CsvTable& metrics,
                      double last_step) {
  const auto top = static_cast<double>(bump.top);
  const std::string words = bump_in_words(bump);
  const Index at = bump.end.value_or(bump.top);
  room.write(figure, room.is_wide_enough(words) ? words : "bump", static_cast<double>(at),
             value_at(metrics, "loss", at), std::array{Spot{14, 0, 0}, Spot{14, 9, 0}}, kInk);
  figure.script.data("$bump", {{top}, {value_at(metrics, "loss", bump.top)}});
  return fmt::format(
      "$metrics using ($1 >= {} && $1 <= {} ? $1 : NaN):2 with lines linewidth 9 linecolor rgb "
      "'#cfcfcf', $bump using 1:2 with points pointtype 7 pointsize 0.7 linecolor rgb '{}', ",
      bump.start, bump.end ? static_cast<double>(*bump.end) : last_step, kInk);
}

double highest_loss(const CsvTable& metrics, double chance) {
  double highest = chance;
  for (const Line& line : kLines)
    for (const double loss : metrics.numbers(line.column))
      if (std::isfinite(loss)) highest = std::max(highest, loss);
  return std::ceil(2 * (highest + 0.5)) / 2;
}

/// What the loss panel shows beside the curves.
struct Levels {
  std::string floors;  ///< parts of a plot command
  std::vector<EndLabel> labels;
};

Levels levels_of(const CsvTable& metrics, const CsvTable& floors, Index vocabulary, bool narrow) {
  Levels levels{"", {chance_label(vocabulary, narrow)}};
  for (const Line& line : kLines) {
    levels.floors += floor_lines(floors, line.column, line.colour, line.floor_colour, levels.labels, narrow);
    const double last = last_of(metrics.numbers(line.column));
    if (!std::isfinite(last)) continue;
    const std::string_view name = narrow ? line.label.substr(0, line.label.find(' ')) : line.label;
    levels.labels.push_back({last, fmt::format("{} {:.2f}", name, last), line.colour});
  }
  return levels;
}

void plot_losses(Figure& figure, const Panel& panel, const CsvTable& metrics, const Levels& levels,
                 const Formation& formation) {
  const double chance = levels.labels.front().y;
  const double last_step = static_cast<double>(formation.last_step);
  const double highest = highest_loss(metrics, chance);
  place(figure, panel, "loss (nats)");
  set_y_axis(figure, panel, 0, highest);
  figure.script.line("set format x ''");
  NoteRoom room(panel, last_step, highest);
  room.add_curve({0, last_step}, {chance, chance});
  for (const Line& line : kLines) room.add_curve(metrics.numbers("step"), metrics.numbers(line.column));
  std::string command;
  if (formation.bump) command += mark_bump(figure, room, *formation.bump, metrics, last_step);
  if (formation.hump) mark_hump(figure, room, *formation.hump, last_step);
  command += levels.floors;
  command += fmt::format("{} with lines linewidth 1 dashtype 2 linecolor rgb '{}'", chance, kGrey);
  int column = 2;
  for (const Line& line : kLines)
    command += fmt::format(", $metrics using 1:{} with {} linewidth 1.8 linecolor rgb '{}'", column++,
                           line_style(metrics.numbers(line.column)), line.colour);
  if (formation.hump)
    command += fmt::format(", $hump using 1:2 with points pointtype 7 pointsize 0.7 linecolor rgb '{}'",
                           kNoiseColour);
  label_line_ends(figure, panel, 0, highest, levels.labels);
  plot(figure, command);
}

std::vector<EndLabel> accuracy_label(const CsvTable& metrics) {
  const double last = last_of(metrics.numbers("accuracy_induction"));
  if (!std::isfinite(last)) return {};
  return {{last, fmt::format("induction {:.0f} %", 100 * last), kInductionColour}};
}

/// Labels where the accuracy first was above 10, 50 and 90 %; returns these points.
std::vector<std::vector<double>> mark_crossings(Figure& figure, const Panel& panel, const CsvTable& metrics,
                                                const Formation& formation) {
  std::vector<double> accuracies = metrics.numbers("accuracy_induction");
  for (double& accuracy : accuracies) accuracy *= 100;
  NoteRoom room(panel, static_cast<double>(formation.last_step), 100);
  room.add_curve(metrics.numbers("step"), accuracies);
  std::vector<std::vector<double>> points(2);
  const auto mark = [&](const std::optional<Index>& step, int percent, std::initializer_list<Spot> spots) {
    if (!step) return;
    points[0].push_back(static_cast<double>(*step));
    points[1].push_back(100 * value_at(metrics, "accuracy_induction", *step));
    room.write(figure, fmt::format("{} % at {}", percent, *step), points[0].back(), points[1].back(),
               {spots.begin(), spots.size()}, kInductionColour);
  };
  // Above, to the left, and below the rise.
  mark(formation.onset, 10,
       {{0, 15, 0.5}, {-12, 18, 0.5}, {-10, 12, 1}, {10, -8, 0}, {20, -8, 0}, {40, -8, 0}, {60, -8, 0}});
  mark(formation.half, 50, {{10, 0, 0}, {-10, 0, 1}, {10, -14, 0}, {-10, 14, 1}});
  mark(formation.done, 90, {{0, -16, 0}, {0, 14, 1}, {0, 14, 0}});
  return points;
}

void plot_accuracy(Figure& figure, const Panel& panel, const CsvTable& metrics, const Formation& formation,
                   Index tokens_a_step) {
  GnuplotScript& script = figure.script;
  script.line("unset arrow");
  place(figure, panel, "accuracy (%)");
  script.line("set yrange [0:100]\nset ytics 0,50,100\nset format x '%g'");
  label_x_axis(figure, panel, fmt::format("training step ({} tokens each)", tokens_a_step));
  const std::vector<std::vector<double>> crossings = mark_crossings(figure, panel, metrics, formation);
  const std::vector<double> accuracies = metrics.numbers("accuracy_induction");
  label_line_ends(figure, panel, 0, 1, accuracy_label(metrics));
  std::string command = fmt::format("$metrics using 1:(100*$5) with {} linewidth 1.8 linecolor rgb '{}'",
                                    line_style(accuracies), kInductionColour);
  if (!crossings[0].empty()) {
    script.data("$crossings", crossings);
    command += fmt::format(", $crossings using 1:2 with points pointtype 7 pointsize 0.7 linecolor rgb '{}'",
                           kInductionColour);
  }
  plot(figure, command);
}

std::string title_of(const Formation& formation, Index last_step) {
  if (formation.last_step == 0) return "Loss by kind of position";
  if (formation.done) return "Learning to copy: loss by kind of position";
  if (formation.half) return "Learning to copy, in part: loss by kind of position";
  return fmt::format("Not learnt to copy by step {}: loss by kind of position", last_step);
}

/// What the plots have no room for.
std::vector<ColouredWords> remarks_of(const Formation& formation, const CsvTable& floors, int panel_width,
                                      bool narrow) {
  std::vector<ColouredWords> remarks;
  const NoteRoom room({0, panel_width, 0, 0}, 1, 1);
  if (formation.hump && !room.is_wide_enough(hump_in_words(*formation.hump)))
    remarks.push_back({hump_in_words(*formation.hump), kNoiseColour});
  if (formation.bump && !room.is_wide_enough(bump_in_words(*formation.bump)))
    remarks.push_back({bump_in_words(*formation.bump), kInk});
  if (narrow)
    remarks.push_back({floors.rows() > 0
                           ? "dashed: guessing; thin level lines: the losses of the best predictors"
                           : "dashed: guessing"});
  return remarks;
}

}  // namespace

Figure loss_figure(const CsvTable& metrics, const CsvTable& floors, const Formation& formation,
                   const Config& config, const FigureSize& size) {
  const auto last_step = metrics.whole_number(metrics.rows() - 1, "step");
  const bool narrow = is_narrow(size);
  const Levels levels = levels_of(metrics, floors, config.model.vocabulary, narrow);
  const int right = std::min(right_of_plots(size.width, levels.labels),
                             right_of_plots(size.width, accuracy_label(metrics)));
  PlotHeights heights = narrow ? kNarrow : kPage;
  const int formation_height = kLine * static_cast<int>(formation_lines(formation, size.width).size());
  heights.around += formation_height;
  Sheet sheet = start_sheet("loss", size,
                            {.title = title_of(formation, last_step),
                             .subtitle = run_in_words(config),
                             .remarks = remarks_of(formation, floors, right - kPlotLeft, narrow)},
                            heights);
  Figure& figure = sheet.figure;
  figure.script.data("$metrics",
                     {metrics.numbers("step"), metrics.numbers("loss"), metrics.numbers("loss_induction"),
                      metrics.numbers("loss_noise"), metrics.numbers("accuracy_induction")});
  const int loss_top = sheet.top + formation_height;
  const int loss_bottom = loss_top + static_cast<int>(kLossShare * sheet.plots);
  const Panel losses{kPlotLeft, right, loss_top, loss_bottom};
  const Panel accuracy{kPlotLeft, right, loss_bottom + kGap, loss_top + sheet.plots + kGap};
  set_step_axis(figure, losses, static_cast<double>(last_step));
  shade_formation(figure, formation);
  name_formation(figure, losses, formation);
  plot_losses(figure, losses, metrics, levels, formation);
  plot_accuracy(figure, accuracy, metrics, formation, config.train.batch * config.task.length);
  return std::move(sheet.figure);
}

}  // namespace tapehead
