#include "tapehead/report/loss_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "tapehead/report/floor_lines.h"
#include "tapehead/report/formation_window.h"
#include "tapehead/report/notes.h"
#include "tapehead/report/style.h"

namespace tapehead {

namespace {

constexpr int kWidth = 880;
constexpr int kHeight = 620;
constexpr Panel kLossPanel{70, 722, 96, 412};
constexpr Panel kAccuracyPanel{70, 722, 448, 564};

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
      "0.006,30 linecolor rgb '{3}' linewidth 0.9",
      hump.top, hump.level, top, kNoiseColour);
  // The marks stand at the medians that are measured, not at single evaluations.
  figure.script.data(
      "$hump", {{static_cast<double>(hump.start), static_cast<double>(hump.top), static_cast<double>(end)},
                {hump.level, top, hump.end ? hump.level + 0.1 * hump.height : top}});
  const double part = static_cast<double>(hump.top) / last_step;
  const double before = part < 0.3 ? 0 : part < 0.7 ? 0.5 : 1;
  room.write(figure, 22,
             fmt::format("hump on noise, +{:.2f} nats (medians of three): {}", hump.height,
                         start_top_end(hump.start, hump.top, hump.end)),
             static_cast<double>(hump.top), top, std::array{Spot{0, 19, before}, Spot{0, 30, before}},
             kNoiseColour);
}

/// A broad grey line for behind the loss where it bends downward, as part of a plot command, and a label.
std::string mark_bump(Figure& figure, NoteRoom& room, const Bump& bump, const CsvTable& metrics,
                      double last_step) {
  const auto top = static_cast<double>(bump.top);
  const double end = bump.end ? static_cast<double>(*bump.end) : last_step;
  const bool room_after = bump.end && end < 0.5 * last_step;
  const double x = room_after ? end + 0.02 * last_step : top;
  double y = value_at(metrics, "loss_induction", bump.top) - 0.4;
  if (room_after) {
    const double after = value_at(metrics, "loss", *bump.end);
    const double last = last_of(metrics.numbers("loss"));
    y = after - last < 0.5 ? last - 0.65 : after;  // below a loss that goes on as flat as the words
  }
  std::vector<Spot> spots;  // ever further from the bump
  for (int further = 0; further < 300; further += 20)
    spots.push_back(room_after ? Spot{1.0 * further, 0, 0} : Spot{-1.0 * further, 0, 1});
  room.write(figure, 23, "bump, bends downward: " + start_top_end(bump.start, bump.top, bump.end), x, y,
             spots, kInk);
  figure.script.data("$bump", {{top}, {value_at(metrics, "loss", bump.top)}});
  return fmt::format(
      "$metrics using ($1 >= {} && $1 <= {} ? $1 : NaN):2 with lines linewidth 9 linecolor rgb "
      "'#cfcfcf', $bump using 1:2 with points pointtype 7 pointsize 0.7 linecolor rgb '{}', ",
      bump.start, end, kInk);
}

void plot_losses(Figure& figure, const CsvTable& metrics, const CsvTable& floors, const Formation& formation,
                 Index vocabulary) {
  const double chance = std::log(static_cast<double>(vocabulary));
  const double last_step = static_cast<double>(formation.last_step);
  double highest = chance;
  for (const Line& line : kLines)
    for (const double loss : metrics.numbers(line.column))
      if (std::isfinite(loss)) highest = std::max(highest, loss);
  highest = std::ceil(2 * (highest + 0.5)) / 2;

  place(figure, kLossPanel, "loss (nats)");
  figure.script.line("set yrange [0:{}]", highest);
  figure.script.line("set format x ''");
  std::string command;
  NoteRoom room(kLossPanel, last_step, highest);
  for (const Line& line : kLines) room.add_curve(metrics.numbers("step"), metrics.numbers(line.column));
  if (formation.bump) command += mark_bump(figure, room, *formation.bump, metrics, last_step);
  if (formation.hump) mark_hump(figure, room, *formation.hump, last_step);
  std::vector<EndLabel> labels{{chance, fmt::format("guessing: ln {} = {:.2f}", vocabulary, chance), kGrey}};
  for (const Line& line : kLines)
    command += floor_lines(floors, line.column, line.colour, line.floor_colour, labels);
  command += fmt::format("{} with lines linewidth 1 dashtype 2 linecolor rgb '{}'", chance, kGrey);
  int column = 2;
  for (const Line& line : kLines) {
    const std::vector<double> losses = metrics.numbers(line.column);
    command += fmt::format(", $metrics using 1:{} with {} linewidth 1.8 linecolor rgb '{}'", column++,
                           line_style(losses), line.colour);
    const double last = last_of(losses);
    if (std::isfinite(last))
      labels.push_back({last, fmt::format("{} {:.2f}", line.label, last), line.colour});
  }
  if (formation.hump)
    command += fmt::format(", $hump using 1:2 with points pointtype 7 pointsize 0.7 linecolor rgb '{}'",
                           kNoiseColour);
  label_line_ends(figure, kLossPanel, 0, highest, labels);
  figure.script.line("plot {}", command);
}

/// Labels where the accuracy first was above 10, 50 and 90 %; returns these points.
std::vector<std::vector<double>> mark_crossings(Figure& figure, const CsvTable& metrics,
                                                const Formation& formation) {
  std::vector<double> accuracies = metrics.numbers("accuracy_induction");
  for (double& accuracy : accuracies) accuracy *= 100;
  NoteRoom room(kAccuracyPanel, static_cast<double>(formation.last_step), 100);
  room.add_curve(metrics.numbers("step"), accuracies);
  std::vector<std::vector<double>> points(2);
  const auto mark = [&](const std::optional<Index>& step, int percent, std::initializer_list<Spot> spots) {
    if (!step) return;
    points[0].push_back(static_cast<double>(*step));
    points[1].push_back(100 * value_at(metrics, "accuracy_induction", *step));
    room.write(figure, 30 + percent, fmt::format("{} % at {}", percent, *step), points[0].back(),
               points[1].back(), {spots.begin(), spots.size()}, kInductionColour);
  };
  // Above, to the left, and below the rise.
  mark(formation.onset, 10,
       {{0, 15, 0.5}, {-12, 18, 0.5}, {-10, 12, 1}, {10, -8, 0}, {20, -8, 0}, {40, -8, 0}, {60, -8, 0}});
  mark(formation.half, 50, {{10, 0, 0}, {-10, 0, 1}, {10, -14, 0}, {-10, 14, 1}});
  mark(formation.done, 90, {{0, -16, 0}, {0, 14, 1}, {0, 14, 0}});
  return points;
}

void plot_accuracy(Figure& figure, const CsvTable& metrics, const Formation& formation, Index tokens_a_step) {
  GnuplotScript& script = figure.script;
  script.line("unset label\nunset arrow");
  place(figure, kAccuracyPanel, "accuracy (%)");
  script.line("set yrange [0:100]\nset ytics 0,50,100\nset format x '%g'");
  label_x_axis(figure, kAccuracyPanel, fmt::format("training step ({} tokens each)", tokens_a_step));
  const std::vector<std::vector<double>> crossings = mark_crossings(figure, metrics, formation);
  const std::vector<double> accuracies = metrics.numbers("accuracy_induction");
  const double last = last_of(accuracies);
  if (std::isfinite(last))
    label_line_ends(figure, kAccuracyPanel, 0, 1,
                    {{last, fmt::format("induction {:.0f} %", 100 * last), kInductionColour}});
  std::string command = fmt::format("$metrics using 1:(100*$5) with {} linewidth 1.8 linecolor rgb '{}'",
                                    line_style(accuracies), kInductionColour);
  if (!crossings[0].empty()) {
    script.data("$crossings", crossings);
    command += fmt::format(", $crossings using 1:2 with points pointtype 7 pointsize 0.7 linecolor rgb '{}'",
                           kInductionColour);
  }
  script.line("plot {}", command);
}

}  // namespace

Figure loss_figure(const CsvTable& metrics, const CsvTable& floors, const Formation& formation,
                   const Config& config) {
  const auto last_step = static_cast<Index>(metrics.number(metrics.rows() - 1, "step"));
  const std::string title =
      formation.last_step == 0 ? "Loss by kind of position"
      : formation.done         ? "Learning to copy: loss by kind of position"
      : formation.half         ? "Learning to copy, in part: loss by kind of position"
                       : fmt::format("Not learnt to copy by step {}: loss by kind of position", last_step);
  Figure figure = start_figure("loss", kWidth, kHeight, title, run_in_words(config));
  figure.script.data("$metrics",
                     {metrics.numbers("step"), metrics.numbers("loss"), metrics.numbers("loss_induction"),
                      metrics.numbers("loss_noise"), metrics.numbers("accuracy_induction")});
  set_step_axis(figure, static_cast<double>(last_step));
  shade_formation(figure, formation);
  plot_losses(figure, metrics, floors, formation, config.model.vocabulary);
  plot_accuracy(figure, metrics, formation, config.train.batch * config.task.length);
  return figure;
}

}  // namespace tapehead
