#include "tapehead/report/formation_window.h"

#include <algorithm>

namespace tapehead {

namespace {

std::string in_words(const Formation& formation) {
  if (!formation.onset)
    return fmt::format("accuracy on induction positions not above 10 % by step {}", formation.last_step);
  if (!formation.done)
    return fmt::format("accuracy on induction positions above 10 % from step {}, not above 90 % by step {}",
                       *formation.onset, formation.last_step);
  return fmt::format("accuracy 10 % to 90 %: steps {} to {}", *formation.onset, *formation.done);
}

}  // namespace

void shade_formation(Figure& figure, const Formation& formation) {
  if (formation.last_step == 0) return;
  const auto last = static_cast<double>(formation.last_step);
  const double from = static_cast<double>(formation.onset.value_or(0));
  const double to = static_cast<double>(formation.done.value_or(formation.last_step));
  if (formation.onset)
    figure.script.line(
        "set object 1 rectangle from first {}, graph 0 to first {}, graph 1 behind fillcolor rgb '{}' "
        "fillstyle "
        "solid 1 noborder",
        from, to, kShade);
  // The middle of the shade, unless the words would then leave the panel.
  const double middle = formation.done ? std::clamp((from + to) / 2, 0.2 * last, 0.8 * last) : last / 2;
  figure.script.line(
      "set label 1010 {} at first {}, graph 1 center offset 0,0.8 font ',13' textcolor rgb '{}'",
      gnuplot_text(in_words(formation)), middle, kInk);
}

}  // namespace tapehead
