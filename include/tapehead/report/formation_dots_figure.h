/// When heads formed in each run of several groups: a sweep each, or a setting of a grid each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/report/sheet.h"
#include "tapehead/report/style.h"
#include "tapehead/study/censored.h"

namespace tapehead {

struct StepGroup {
  std::string label;
  std::vector<Censored> runs;  ///< the step at which each formed, or its last step
};

struct DotsCaption {
  std::string subtitle;
  std::vector<ColouredWords> remarks = {};
};

/// A row a group, over steps: a dot for every run, the median as a line over a band from quartile to
/// quartile, and how many of the runs formed. Those that did not have crosses in a column of their own, and
/// count as later than all others: a band whose upper quartile is among them has no end. Throws Error for no
/// group, and for one without runs.
Figure formation_dots_figure(std::span<const StepGroup> groups, const DotsCaption& caption,
                             const FigureSize& size = kPageSize);

}  // namespace tapehead
