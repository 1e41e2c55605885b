#include "tapehead/report/style.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tapehead {

namespace {

constexpr int kLabelGap = 17;  // pixels between the middles of two lines of text
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

Figure start_figure(std::string name, int width, int height, std::string_view title,
                    std::string_view subtitle) {
  Figure figure{std::move(name), width, height, {}};
  GnuplotScript& script = figure.script;
  script.line("set datafile missing 'nan'");
  script.line("set border 3 linecolor rgb '{}' linewidth 0.8", kGrey);
  script.line("set tics nomirror out scale 0.5 font ',13' textcolor rgb '{}'", kInk);
  script.line("set grid ytics linetype 1 linecolor rgb '{}' linewidth 0.6", kPaleGrey);
  script.line("set key off");
  script.line("set multiplot");
  script.line("set label 1000 '{{/:Bold=19 '.{}.'}}' at screen {}, screen {} left textcolor rgb '{}'",
              gnuplot_text(title), 20.0 / width, 1 - 26.0 / height, kInk);
  script.line("set label 1001 {} at screen {}, screen {} left font ',13' textcolor rgb '{}'",
              gnuplot_text(subtitle), 20.0 / width, 1 - 50.0 / height, kGrey);
  return figure;
}

void place(Figure& figure, const Panel& panel, std::string_view y_label) {
  figure.script.line("set lmargin at screen {}", static_cast<double>(panel.left) / figure.width);
  figure.script.line("set rmargin at screen {}", static_cast<double>(panel.right) / figure.width);
  figure.script.line("set tmargin at screen {}", 1 - static_cast<double>(panel.top) / figure.height);
  figure.script.line("set bmargin at screen {}", 1 - static_cast<double>(panel.bottom) / figure.height);
  figure.script.line("set label 1002 {} at screen {}, screen {} center rotate by 90 textcolor rgb '{}'",
                     gnuplot_text(y_label), 14.0 / figure.width,
                     1 - 0.5 * (panel.top + panel.bottom) / figure.height, kInk);
}

void label_x_axis(Figure& figure, const Panel& panel, std::string_view label) {
  figure.script.line("set label 1003 {} at screen {}, screen {} center textcolor rgb '{}'",
                     gnuplot_text(label), 0.5 * (panel.left + panel.right) / figure.width,
                     1 - (panel.bottom + 45.0) / figure.height, kInk);
}

void set_step_axis(Figure& figure, double last_step) {
  if (last_step > 0)
    figure.script.line("set xrange [0:{}]", last_step);
  else
    figure.script.line("set xrange [-1:1]\nset xtics (0)");
}

std::string_view line_style(const std::vector<double>& values) {
  const auto count = std::ranges::count_if(values, [](double value) { return std::isfinite(value); });
  return count == 1 ? "linespoints pointtype 7 pointsize 0.8" : "lines";
}

std::vector<double> spread(const std::vector<double>& wanted, double gap) {
  struct Group {
    double sum;  // of the places wanted for the first of the group
    double count;
    double first() const { return sum / count; }
  };
  std::vector<Group> groups;
  for (const double place : wanted) {
    Group group{place, 1};
    while (!groups.empty() && groups.back().first() + gap * groups.back().count > group.first()) {
      const Group before = groups.back();
      groups.pop_back();
      group.sum = before.sum + group.sum - gap * before.count * group.count;
      group.count += before.count;
    }
    groups.push_back(group);
  }
  std::vector<double> places;
  for (const Group& group : groups)
    for (double i = 0; i < group.count; ++i) places.push_back(group.first() + gap * i);
  return places;
}

void label_line_ends(Figure& figure, const Panel& panel, double low, double high,
                     std::vector<EndLabel> labels) {
  std::sort(labels.begin(), labels.end(), [](const EndLabel& a, const EndLabel& b) { return a.y < b.y; });
  const double pixels = panel.bottom - panel.top;
  std::vector<double> wanted;
  for (const EndLabel& label : labels) wanted.push_back(pixels * (label.y - low) / (high - low));
  std::vector<double> places = spread(wanted, kLabelGap);
  // Not over the panel's top, and clear of the numbers of the axis below.
  for (std::size_t i = 0; i < places.size(); ++i) {
    double& from_top = places[places.size() - 1 - i];
    from_top = std::min(from_top, pixels - kLabelGap * static_cast<double>(i));
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = std::max(places[i], kLabelGap * (static_cast<double>(i) + 0.3));
  for (std::size_t i = 0; i < labels.size(); ++i)
    figure.script.line("set label {} {} at graph 1.012, graph {:.4f} left{} textcolor rgb '{}'", 100 + i,
                       gnuplot_text(labels[i].text), places[i] / pixels,
                       labels[i].is_minor ? " font ',13'" : "", labels[i].colour);
}

}  // namespace tapehead
