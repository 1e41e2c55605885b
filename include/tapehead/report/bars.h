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

/// What the y axis has to hold: all bars, intervals and the words beside them, and 0.
struct BarRange {
  double low = 0;
  double high = 0;
  double margin = 0;  ///< between the bars and the axis' ends
};
/// At least up to `least_high`, in a plot that is `height` pixels high.
BarRange range_of(const std::vector<Bars>& all_bars, double least_high, int height);

/// Sets the y range and the look of bars of this width, in groups.
void set_bars(Figure& figure, const BarRange& range, double width);

/// Writes the data blocks, and returns the command that plots bars, intervals and heights.
std::string bars_command(Figure& figure, const std::vector<Bars>& all_bars, const BarRange& range, int font);

/// Whether a level line at y would go through the height written over, or under, the bar of that group.
bool crosses_height(const Bars& bars, const BarRange& range, std::size_t group, double y);

}  // namespace tapehead
