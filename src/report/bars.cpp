#include "tapehead/report/bars.h"

#include <algorithm>
#include <cmath>

#include "tapehead/report/style.h"

namespace tapehead {

namespace {

constexpr double kMargin = 32;        // pixels between the bars and the axis' ends, for the words
constexpr double kBeyond = 1.0 / 3;   // of the margin, from a bar to the middle of its height
constexpr double kHalfOfWords = 0.3;  // of the margin, half of what a height takes

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

BarRange range_of(const std::vector<Bars>& all_bars, double least_high, int height) {
  double lowest = 0;
  double highest = least_high;
  for (const Bars& bars : all_bars)
    for (std::size_t row = 0; row < bars.heights.size(); ++row) {
      lowest = smaller(smaller(lowest, bars.heights[row]), bars.low[row]);
      highest = larger(larger(highest, bars.heights[row]), bars.high[row]);
    }
  const double margin = (highest - lowest) * kMargin / height;
  return {lowest < 0 ? lowest - margin : 0, highest + margin, margin};
}

void set_bars(Figure& figure, const BarRange& range, double width) {
  GnuplotScript& script = figure.script;
  script.line("set yrange [{}:{}]", range.low, range.high);
  script.line("set boxwidth {} absolute\nset style fill solid 1 noborder", width);
  script.line("set xzeroaxis linetype 1 linewidth 0.8 linecolor rgb '{}'\nset border 2", kGrey);
}

std::string bars_command(Figure& figure, const std::vector<Bars>& all_bars, const BarRange& range, int font) {
  std::string command;
  for (const Bars& bars : all_bars) {
    // gnuplot 5.4 crashes on labels of which none is there.
    if (std::none_of(bars.heights.begin(), bars.heights.end(),
                     [](double height) { return std::isfinite(height); }))
      continue;
    std::vector<double> places;
    for (std::size_t row = 0; row < bars.heights.size(); ++row)
      places.push_back(static_cast<double>(row) + bars.offset);
    std::vector<double> marks(bars.marks.begin(), bars.marks.end());
    marks.resize(places.size(), 0);
    figure.script.data(bars.name, {places, bars.heights, bars.low, bars.high,
                                   label_places(bars, kBeyond * range.margin), std::move(marks)});
    command += fmt::format("{}{} using 1:2 with boxes linecolor rgb '{}' notitle",
                           command.empty() ? "plot " : ", ", bars.name, bars.colour);
    command += fmt::format(
        ", {} using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 fixed linewidth 1.1 linecolor "
        "rgb '{}' notitle",
        bars.name, kInk);
    command += fmt::format(
        ", {} using 1:5:(($2 < 0 ? '−' : '+').sprintf('%.2f', abs($2)).($6 == 1 ? '≠' : $6 == 2 ? '±' : '')) "
        "with labels center font ',{}' textcolor rgb '{}' notitle",
        bars.name, font, bars.colour);
  }
  return command.empty() ? "plot NaN notitle" : command;
}

bool crosses_height(const Bars& bars, const BarRange& range, std::size_t group, double y) {
  const double place = label_places(bars, kBeyond * range.margin)[group];
  return std::abs(place - y) < kHalfOfWords * range.margin;
}

}  // namespace tapehead
