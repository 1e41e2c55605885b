#include "tapehead/report/formation_window.h"

#include <algorithm>

#include "tapehead/report/lettering.h"

namespace tapehead {

namespace {

constexpr double kBase = 5;  // pixels of the last line that are nearer than a line's height

}  // namespace

std::string formation_in_words(const Formation& formation) {
  if (formation.last_step == 0) return "";
  if (!formation.onset) return fmt::format("accuracy not above 10 % by step {}", formation.last_step);
  if (!formation.done)
    return fmt::format("accuracy above 10 % from step {}, not above 90 % by step {}", *formation.onset,
                       formation.last_step);
  return fmt::format("accuracy 10 % to 90 %: steps {} to {}", *formation.onset, *formation.done);
}

std::vector<std::string> formation_lines(const Formation& formation, int width) {
  return wrap(formation_in_words(formation), width - kPlotLeft - kEdge, kText);
}

void shade_formation(Figure& figure, const Formation& formation) {
  if (!formation.onset) return;
  figure.script.line(
      "set object 1 rectangle from first {}, graph 0 to first {}, graph 1 behind fillcolor rgb '{}' "
      "fillstyle solid 1 noborder",
      *formation.onset, formation.done.value_or(formation.last_step), kShade);
}

void name_formation(Figure& figure, const Panel& panel, const Formation& formation) {
  const auto last = static_cast<double>(formation.last_step);
  const double from = static_cast<double>(formation.onset.value_or(0));
  const double to = static_cast<double>(formation.done.value_or(formation.last_step));
  const double middle = panel.left + panel.width() * (from + to) / 2 / std::max(last, 1.0);
  const std::vector<std::string> lines = formation_lines(formation, figure.width);
  double y = panel.top + kBase - kLine * static_cast<double>(lines.size());
  for (const std::string& line : lines) {
    // As far to the middle as the words then stay over the panel.
    const double most_left = std::max(1.0 * panel.left, panel.right - text_width(line, kText));
    write(figure, line, std::clamp(middle - text_width(line, kText) / 2, 1.0 * panel.left, most_left), y);
    y += kLine;
  }
}

}  // namespace tapehead
