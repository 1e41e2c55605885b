#include "tapehead/report/style.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tapehead/report/lettering.h"

namespace tapehead {

namespace {

constexpr double kTicHeight = 30;  // pixels from one number of a y axis to the next, at least
constexpr double kTicGap = 20;     // pixels between two numbers of an x axis, at least
constexpr double kMostTics = 6;    // of an x axis
constexpr std::array<std::string_view, 6> kHeadColours = {"#0072b2", "#d55e00", "#009e73",
                                                          "#cc79a7", "#e69f00", "#56b4e9"};

std::string plural(Index count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string model_in_words(const ModelConfig& model) {
  std::string words = fmt::format("{}, {}{}, width {}", plural(model.layers, "layer"),
                                  plural(model.heads, "head"), model.layers > 1 ? " each" : "", model.width);
  words += model.feed_forward > 0 ? fmt::format(", feed-forward {}", model.feed_forward) : ", attention only";
  return words;
}

std::string task_in_words(const TaskConfig& task) {
  std::string name = task.name;
  std::replace(name.begin(), name.end(), '_', ' ');
  std::string words = fmt::format("{}, length {}", name, task.length);
  if (task.name == "repeated_sequence")
    words += fmt::format(", period {} to {}", task.period_min, task.period_max);
  if (task.name == "fixed_period_sequence") words += fmt::format(", period {}", task.period);
  if (task.name == "copied_segment") words += fmt::format(", segment {}", task.segment);
  return words;
}

std::string seeds_in_words(const TrainConfig& train) {
  if (train.initialisation_seed == train.data_seed) return fmt::format("seed {}", train.data_seed);
  return fmt::format("seeds {} (weights), {} (data)", train.initialisation_seed, train.data_seed);
}

std::size_t head_number(Index layer, Index head, Index heads) {
  return static_cast<std::size_t>(layer * heads + head);
}

}  // namespace

std::string_view head_colour(Index layer, Index head, Index heads) {
  return kHeadColours[head_number(layer, head, heads) % kHeadColours.size()];
}

int head_dash(Index layer, Index head, Index heads) {
  return 1 + static_cast<int>(head_number(layer, head, heads) / kHeadColours.size() % 4);
}

std::string runs_in_words(const Config& config) {
  return fmt::format("{} · {}", model_in_words(config.model), task_in_words(config.task));
}

std::string run_in_words(const Config& config) {
  const std::size_t interventions = config.interventions.size();
  const std::string changed =
      interventions == 0 ? ""
                         : fmt::format(" · {} intervention{}", interventions, interventions == 1 ? "" : "s");
  return fmt::format("{} · {}{}", runs_in_words(config), seeds_in_words(config.train), changed);
}

std::string in_figures(double value, int decimals) {
  const std::string figures = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool is_zero = figures.find_first_not_of("0.") == std::string::npos;
  return value < 0 && !is_zero ? "−" + figures : figures;
}

std::string with_sign(double value, int decimals) {
  const std::string figures = in_figures(value, decimals);
  const bool is_zero = figures.find_first_not_of("0.") == std::string::npos;
  return value > 0 && !is_zero ? "+" + figures : figures;
}

void write(Figure& figure, std::string_view text, double x, double y, const Lettering& lettering) {
  const std::string words =
      lettering.is_bold ? "'{/:Bold '." + gnuplot_text(text) + ".'}'" : gnuplot_text(text);
  figure.script.line("set label {} at screen {}, screen {} {}{} front font ',{}' textcolor rgb '{}'", words,
                     x / figure.width, 1 - y / figure.height, lettering.align,
                     lettering.is_upright ? " rotate by 90" : "", lettering.size, lettering.colour);
}

void place(Figure& figure, const Panel& panel, std::string_view y_label) {
  figure.script.line("set lmargin at screen {}", static_cast<double>(panel.left) / figure.width);
  figure.script.line("set rmargin at screen {}", static_cast<double>(panel.right) / figure.width);
  figure.script.line("set tmargin at screen {}", 1 - static_cast<double>(panel.top) / figure.height);
  figure.script.line("set bmargin at screen {}", 1 - static_cast<double>(panel.bottom) / figure.height);
  if (!y_label.empty())
    write(figure, y_label, kEdge + 4, 0.5 * (panel.top + panel.bottom),
          {.align = "center", .is_upright = true});
}

void label_x_axis(Figure& figure, const Panel& panel, std::string_view label) {
  write(figure, label, 0.5 * (panel.left + panel.right), panel.bottom + kXAxis - 8, {.align = "center"});
}

void plot(Figure& figure, std::string_view command) { figure.script.line("plot {}\nunset label", command); }

double tic_step(double range, double most_parts) {
  double step = std::pow(10, std::floor(std::log10(range / most_parts)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (range / (factor * step) <= most_parts * (1 + 1e-9)) return factor * step;
  return 10 * step;
}

void set_y_axis(Figure& figure, const Panel& panel, double low, double high) {
  figure.script.line("set yrange [{}:{}]\nset ytics {}", low, high,
                     tic_step(high - low, std::max(2.0, 1.0 * panel.height() / kTicHeight)));
}

void set_step_axis(Figure& figure, const Panel& panel, double last_step) {
  if (last_step <= 0) {
    figure.script.line("set xrange [-1:1]\nset xtics (0)");
    return;
  }
  const double number = text_width(fmt::format("{:.0f}", last_step), kText) + kTicGap;
  figure.script.line("set xrange [0:{}]\nset xtics {}", last_step,
                     std::max(1.0, tic_step(last_step, std::min(kMostTics, panel.width() / number))));
}

std::string_view line_style(const std::vector<double>& values) {
  const auto count = std::ranges::count_if(values, [](double value) { return std::isfinite(value); });
  return count == 1 ? "linespoints pointtype 7 pointsize 0.8" : "lines";
}

}  // namespace tapehead
