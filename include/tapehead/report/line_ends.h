/// Labels at the right ends of lines, which name them better than a key does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapehead/report/style.h"

namespace tapehead {

struct EndLabel {
  double y = 0;  ///< of the line's end
  std::string text;
  std::string_view colour;
  bool is_minor = false;  ///< in smaller letters
};

/// Where plots of a figure of this width end that have such labels to the right of them.
int right_of_plots(int width, const std::vector<EndLabel>& labels);

/// Puts labels to the right of the panel whose y axis goes from low to high, none upon another.
void label_line_ends(Figure& figure, const Panel& panel, double low, double high,
                     std::vector<EndLabel> labels);

/// The places nearest to `wanted` (in growing order) that lie at least `gap` apart, moved by the smallest
/// squares.
std::vector<double> spread(const std::vector<double>& wanted, double gap);

}  // namespace tapehead
