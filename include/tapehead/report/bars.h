/// Groups of bars with 95 % intervals and their heights in figures. Group g stands around x = g.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapehead/report/gnuplot.h"

namespace tapehead {

/// One colour of bars: a bar in every group.
struct Bars {
  std::string name;  ///< of its data block, which begins with `$`
  std::string_view colour;
  double offset;  ///< of a bar's middle from its group's, in groups
  std::vector<double> heights;
  std::vector<double> low;  ///< ends of the intervals
  std::vector<double> high;
  std::vector<int> marks = {};  ///< behind the heights: 0 nothing, 1 "≠", 2 "±"; none given, none shown
};

/// How the heights are written over bars: upright where bars are narrower than figures.
struct BarNumbers {
  bool is_upright = false;
  double extent = 0;  ///< pixels along the bar, with some room
};
/// For groups that are so many pixels wide.
BarNumbers numbers_over(const std::vector<Bars>& all_bars, double group_width);

/// What the y axis has to hold: all bars, intervals and the words beside them, and 0.
struct BarRange {
  double low = 0;
  double high = 0;
  double beyond = 0;  ///< from a bar's end to the middle of its height in figures
  double half = 0;    ///< of what that takes
};
/// At least up to `least_high`, in a plot that is `height` pixels high.
BarRange range_of(const std::vector<Bars>& all_bars, double least_high, int height,
                  const BarNumbers& numbers);

/// Sets the y axis and the look of bars of this width, in groups.
void set_bars(Figure& figure, const BarRange& range, double width, int height);

/// Writes the data blocks, and returns what plots bars, intervals and heights.
std::string bars_command(Figure& figure, const std::vector<Bars>& all_bars, const BarRange& range,
                         const BarNumbers& numbers);

/// Whether a level line at y would go through the height written over, or under, the bar of that group.
bool crosses_height(const Bars& bars, const BarRange& range, std::size_t group, double y);

/// How many of the groups, of which blocks belong together, stand side by side on `width` pixels, if each
/// needs at least `least_pitch`: all, or whole blocks, or even parts of a block.
int groups_in_a_row(int groups, int block, double width, double least_pitch);

/// Of the first and the last group's middle from the axis' ends, in groups.
inline constexpr double kGroupEnds = 0.56;
/// How wide a group is in a plot of so many.
double group_width(double plot_width, int groups);

}  // namespace tapehead
