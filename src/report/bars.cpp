#include "tapehead/report/bars.h"

#include <algorithm>
#include <cmath>

#include "tapehead/report/lettering.h"
#include "tapehead/report/style.h"

namespace tapehead {

namespace {

// Pixels.
constexpr double kGap = 4;      // between a bar or the plot's edge and a height
constexpr double kHeight = 14;  // of figures
constexpr double kBetween = 2;  // two heights side by side

std::string words_over(double height, int mark) {
  return with_sign(height) + (mark == 1 ? "≠" : mark == 2 ? "±" : "");
}

int mark_at(const Bars& bars, std::size_t row) { return row < bars.marks.size() ? bars.marks[row] : 0; }

double larger(double a, double b) { return std::isfinite(b) ? std::max(a, b) : a; }
double smaller(double a, double b) { return std::isfinite(b) ? std::min(a, b) : a; }

/// Where heights are written: so far beyond the bar and its interval.
std::vector<double> label_places(const Bars& bars, double beyond) {
  std::vector<double> places;
  for (std::size_t row = 0; row < bars.heights.size(); ++row)
    places.push_back(bars.heights[row] < 0 ? smaller(bars.heights[row], bars.low[row]) - beyond
                                           : larger(bars.heights[row], bars.high[row]) + beyond);
  return places;
}

}  // namespace

BarNumbers numbers_over(const std::vector<Bars>& all_bars, double group_width) {
  double widest = 0;
  for (const Bars& bars : all_bars)
    for (std::size_t row = 0; row < bars.heights.size(); ++row)
      if (std::isfinite(bars.heights[row]))
        widest = std::max(widest, text_width(words_over(bars.heights[row], mark_at(bars, row)), kSmallText));
  double pitch = group_width;
  for (std::size_t i = 1; i < all_bars.size(); ++i)
    pitch = std::min(pitch, (all_bars[i].offset - all_bars[i - 1].offset) * group_width);
  const bool is_upright = widest + kBetween > pitch;
  return {is_upright, is_upright ? widest : kHeight};
}

BarRange range_of(const std::vector<Bars>& all_bars, double least_high, int height,
                  const BarNumbers& numbers) {
  double lowest = 0;
  double highest = least_high;
  for (const Bars& bars : all_bars)
    for (std::size_t row = 0; row < bars.heights.size(); ++row) {
      lowest = smaller(smaller(lowest, bars.heights[row]), bars.low[row]);
      highest = larger(larger(highest, bars.heights[row]), bars.high[row]);
    }
  const double margin = numbers.extent + 2 * kGap;
  const double pixel = (highest - lowest) / std::max(1.0, height - (lowest < 0 ? 2 : 1) * margin);
  return {lowest < 0 ? lowest - margin * pixel : 0, highest + margin * pixel,
          (kGap + numbers.extent / 2) * pixel, (numbers.extent / 2 + kGap / 2) * pixel};
}

void set_bars(Figure& figure, const BarRange& range, double width, int height) {
  GnuplotScript& script = figure.script;
  set_y_axis(figure, {0, 0, 0, height}, range.low, range.high);
  script.line("set boxwidth {} absolute\nset style fill solid 1 noborder", width);
  script.line("set xzeroaxis linetype 1 linewidth 0.8 linecolor rgb '{}'\nset border 2", kGrey);
}

std::string bars_command(Figure& figure, const std::vector<Bars>& all_bars, const BarRange& range,
                         const BarNumbers& numbers) {
  std::string command;
  for (const Bars& bars : all_bars) {
    // gnuplot 5.4 crashes on labels of which none is there.
    if (std::none_of(bars.heights.begin(), bars.heights.end(),
                     [](double height) { return std::isfinite(height); }))
      continue;
    std::vector<double> places;
    std::vector<double> marks;
    for (std::size_t row = 0; row < bars.heights.size(); ++row) {
      places.push_back(static_cast<double>(row) + bars.offset);
      marks.push_back(mark_at(bars, row));
    }
    figure.script.data(bars.name, {places, bars.heights, bars.low, bars.high,
                                   label_places(bars, range.beyond), std::move(marks)});
    command += fmt::format("{}{} using 1:2 with boxes linecolor rgb '{}' notitle",
                           command.empty() ? "" : ", ", bars.name, bars.colour);
    command += fmt::format(
        ", {} using 1:3:(0):($4-$3) with vectors heads size screen {},90 fixed linewidth 1.1 linecolor "
        "rgb '{}' notitle",
        bars.name, 3.5 / figure.width, kInk);
    command += fmt::format(
        ", {} using 1:5:((abs($2) < 0.005 ? '' : $2 < 0 ? '−' : '+').sprintf('%.2f', abs($2)).($6 == 1 ? '≠' "
        ": $6 == 2 ? '±' : '')) with labels center{} font ',{}' textcolor rgb '{}' notitle",
        bars.name, numbers.is_upright ? " rotate by 90" : "", kSmallText, bars.colour);
  }
  return command.empty() ? "NaN notitle" : command;
}

bool crosses_height(const Bars& bars, const BarRange& range, std::size_t group, double y) {
  return std::abs(label_places(bars, range.beyond)[group] - y) < range.half;
}

int groups_in_a_row(int groups, int block, double width, double least_pitch) {
  const int most = std::max(1, static_cast<int>(width / least_pitch - (2 * kGroupEnds - 1)));
  if (groups <= most) return groups;
  if (block <= most) return block * (most / block);
  const int rows = (block + most - 1) / most;
  return (block + rows - 1) / rows;
}

double group_width(double plot_width, int groups) { return plot_width / (groups - 1 + 2 * kGroupEnds); }

}  // namespace tapehead
