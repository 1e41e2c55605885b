#include "tapehead/report/formation_dots_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/report/lettering.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kRow = 38;
constexpr int kLeastRow = 24;
constexpr int kWords = 22;  // of a row that has its words above its dots
constexpr int kDot = 8;     // from one dot's middle to the next
constexpr int kGap = 14;    // between columns
constexpr int kNeverWidth = 104;
constexpr int kNarrowNeverWidth = 80;
constexpr std::size_t kMostLevels = 256;  // of a row's dots; beyond, they hide each other
constexpr double kMostParts = 20;         // that the axis may end after
constexpr double kLabelShare = 0.36;      // of the figure, at most
constexpr std::string_view kBandColour = "#c3ddef";

/// Where things stand, from left to right.
struct Columns {
  int label = kEdge;
  int strip_left = 0;
  int strip_right = 0;
  int never_left = 0;  ///< as its right where no run of any group is censored
  int never_right = 0;
  int formed = 0;  ///< right ends of words
  int median = 0;
  bool is_narrow = false;
};

struct Row {
  const StepGroup* group;
  CensoredQuartiles quartiles;
  std::string formed;
  std::string median;
};

std::vector<Row> rows_of(std::span<const StepGroup> groups) {
  std::vector<Row> rows;
  for (const StepGroup& group : groups) {
    require(!group.runs.empty(), "[figures] expected at least one run of every group, got none of '{}'",
            group.label);
    const CensoredQuartiles of_runs = quartiles(group.runs);
    const Quantile& median = of_runs.median;
    rows.push_back(
        {&group, of_runs, fmt::format("{} of {}", of_runs.known, of_runs.runs),
         median.value ? fmt::format("{:.0f}", *median.value) : fmt::format("> {}", median.not_by)});
  }
  return rows;
}

double widest(const std::vector<Row>& rows, std::string Row::*words, std::string_view head) {
  double width = text_width(head, kText);
  for (const Row& row : rows) width = std::max(width, text_width(row.*words, kText));
  return std::ceil(width);
}

bool any_never(const std::vector<Row>& rows) {
  return std::ranges::any_of(rows, [](const Row& row) { return row.quartiles.known < row.quartiles.runs; });
}

Columns columns_of(const std::vector<Row>& rows, const FigureSize& size) {
  Columns columns{.is_narrow = is_narrow(size)};
  columns.median = size.width - kEdge;
  columns.formed = columns.median;
  columns.never_right = size.width - 2 * kEdge;
  columns.strip_left = 2 * kEdge;
  if (!columns.is_narrow) {
    columns.formed -= static_cast<int>(widest(rows, &Row::median, "median")) + kGap;
    columns.never_right = columns.formed - static_cast<int>(widest(rows, &Row::formed, "formed")) - kGap;
    double label = 0;
    for (const Row& row : rows) label = std::max(label, text_width(row.group->label, kText));
    columns.strip_left =
        kEdge + kGap + static_cast<int>(std::ceil(std::min(label, kLabelShare * size.width)));
  }
  columns.never_left = columns.never_right - (!any_never(rows)    ? 0
                                              : columns.is_narrow ? kNarrowNeverWidth
                                                                  : kNeverWidth);
  columns.strip_right = columns.never_left - (any_never(rows) ? kGap : 0);
  return columns;
}

/// Where the axis of steps ends: a little after the last run that formed; where none did, at the last step.
double end_of_axis(const std::vector<Row>& rows) {
  double formed = 0;
  double last = 0;
  for (const Row& row : rows)
    for (const Censored& run : row.group->runs) {
      formed = std::max(formed, run.value.value_or(0));
      last = std::max(last, static_cast<double>(run.last_step));
    }
  if (formed <= 0) return std::max(last, 1.0);
  const double step = tic_step(formed, kMostParts);
  return step * std::ceil(1.02 * formed / step);
}

/// The lines over the column of those that never formed.
std::vector<std::string> head_of_never(const std::vector<Row>& rows, const Columns& columns) {
  if (!any_never(rows)) return {};
  std::vector<Index> last_steps;
  for (const Row& row : rows)
    for (const Censored& run : row.group->runs)
      if (!run.value) last_steps.push_back(run.last_step);
  const auto [least, most] = std::ranges::minmax(last_steps);
  return wrap(least == most ? fmt::format("not formed by step {}", least) : "not formed by its last step",
              columns.never_right - columns.never_left, kText);
}

/// Dots of one row: in order of their steps, each on the level nearest to the row's middle that has room.
/// Levels are as far apart as a dot is high, or closer where there are too many.
void add_dots(std::vector<std::vector<double>>& dots, const Row& row, double middle, double half,
              double pixels_per_step) {
  std::vector<double> steps;
  for (const Censored& run : row.group->runs)
    if (run.value) steps.push_back(*run.value);
  std::ranges::sort(steps);
  std::vector<double> taken;  // of each level: the pixel of its last dot
  std::vector<std::size_t> levels;
  for (const double step : steps) {
    const double x = step * pixels_per_step;
    const auto free = std::ranges::find_if(taken, [x](double last) { return last + kDot <= x; });
    std::size_t level = static_cast<std::size_t>(free - taken.begin());
    if (level == kMostLevels) level = levels.size() % kMostLevels;
    if (level == taken.size()) taken.emplace_back();
    taken[level] = x;
    levels.push_back(level);
  }
  const double outermost = static_cast<double>(taken.size() / 2);  // levels from the middle
  const double gap = std::min<double>(kDot, (half - 0.5 * kDot) / std::max(1.0, outermost));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double up = gap * static_cast<double>((levels[i] + 1) / 2);
    dots[0].push_back(steps[i]);
    dots[1].push_back(middle + (levels[i] % 2 == 0 ? -up : up));
  }
}

/// Crosses of one row, as many lines as it takes.
void add_crosses(std::vector<std::vector<double>>& crosses, const Row& row, double middle, double half,
                 double width) {
  const double count = static_cast<double>(row.quartiles.runs - row.quartiles.known);
  if (count == 0) return;
  const double in_a_line = std::min(count, std::max(1.0, std::floor(width / (kDot + 1.0))));
  const double lines = std::ceil(count / in_a_line);
  const double gap = std::min(kDot + 1.0, 2 * half / lines);
  for (double i = 0; i < count; ++i) {
    const double line = std::floor(i / in_a_line);
    const double in_line = std::min(in_a_line, count - line * in_a_line);
    crosses[0].push_back(0.5 * width + (kDot + 1) * (i - line * in_a_line - 0.5 * (in_line - 1)));
    crosses[1].push_back(middle + gap * (0.5 * (lines - 1) - line));
  }
}

/// What is plotted, with y in pixels from the plot's lower edge.
struct Marks {
  std::vector<std::vector<double>> dots = std::vector<std::vector<double>>(2);
  std::vector<std::vector<double>> crosses = std::vector<std::vector<double>>(2);
  std::vector<std::vector<double>> bands = std::vector<std::vector<double>>(4);    ///< left, right, low, high
  std::vector<std::vector<double>> medians = std::vector<std::vector<double>>(3);  ///< step, low, high
};

Marks marks_of(const std::vector<Row>& rows, const Columns& columns, double height, double last) {
  Marks marks;
  const double pitch = height / static_cast<double>(rows.size());
  const double words = columns.is_narrow ? kWords : 0;
  const double half = 0.5 * (pitch - words) - 2;
  const double never_width = columns.never_right - columns.never_left;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double middle = height - pitch * static_cast<double>(i) - 0.5 * (pitch + words);
    const CensoredQuartiles& of_runs = rows[i].quartiles;
    if (of_runs.lower.value) {
      marks.bands[0].push_back(*of_runs.lower.value);
      marks.bands[1].push_back(of_runs.upper.value.value_or(last));
      marks.bands[2].push_back(middle - 0.7 * half);
      marks.bands[3].push_back(middle + 0.7 * half);
    }
    if (of_runs.median.value) {
      marks.medians[0].push_back(*of_runs.median.value);
      marks.medians[1].push_back(middle - half);
      marks.medians[2].push_back(middle + half);
    }
    add_dots(marks.dots, rows[i], middle, half, (columns.strip_right - columns.strip_left) / last);
    add_crosses(marks.crosses, rows[i], middle, half, never_width);
  }
  return marks;
}

/// A block of data and what plots it; nothing for no data.
std::string part_of(Figure& figure, std::string_view block, const std::vector<std::vector<double>>& columns,
                    std::string_view command) {
  if (columns.front().empty()) return "";
  figure.script.data(block, columns);
  return fmt::format("{} {}, ", block, command);
}

void write_words(Figure& figure, const std::vector<Row>& rows, const Columns& columns, int top,
                 double height) {
  const double pitch = height / static_cast<double>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const double upper = top + pitch * static_cast<double>(i);
    const double y = columns.is_narrow ? upper + 0.5 * kWords + 2 : upper + 0.5 * pitch;
    const std::string numbers =
        columns.is_narrow ? fmt::format("{} formed, median {}", row.formed, row.median) : row.formed;
    const double room = columns.is_narrow ? columns.formed - kEdge - kGap - text_width(numbers, kText)
                                          : columns.strip_left - kEdge - kGap;
    write(figure, shortened(row.group->label, room, kText), columns.label, y);
    write(figure, numbers, columns.formed, y, {.colour = kInductionColour, .align = "right"});
    if (!columns.is_narrow) write(figure, row.median, columns.median, y, {.align = "right"});
  }
}

void write_heads(Figure& figure, const std::vector<std::string>& never, const Columns& columns, int top) {
  double y = top - 12 - kLine * (static_cast<double>(never.size()) - 1);
  for (const std::string& line : never) {
    write(figure, line, 0.5 * (columns.never_left + columns.never_right), y,
          {.colour = kNotFormedColour, .align = "center"});
    y += kLine;
  }
  if (columns.is_narrow) return;
  write(figure, "formed", columns.formed, top - 12, {.colour = kInductionColour, .align = "right"});
  write(figure, "median", columns.median, top - 12, {.align = "right"});
}

}  // namespace

Figure formation_dots_figure(std::span<const StepGroup> groups, const DotsCaption& caption,
                             const FigureSize& size) {
  require(!groups.empty(), "[figures] expected at least one group of runs");
  const std::vector<Row> rows = rows_of(groups);
  const Columns columns = columns_of(rows, size);
  const std::vector<std::string> never = head_of_never(rows, columns);
  const int head = kLine * std::max(static_cast<int>(never.size()), columns.is_narrow ? 0 : 1);
  const int count = static_cast<int>(rows.size());
  const int words = columns.is_narrow ? kWords : 0;
  Sheet sheet =
      start_sheet("formation", size,
                  {.title = "When half of what can be copied is copied",
                   .subtitle = caption.subtitle,
                   .key = {{"a dot: a run", kInductionColour}, {"median as a line, quartiles shaded", kInk}},
                   .remarks = caption.remarks},
                  {head + kXAxis, count * (kRow + words), count * (kLeastRow + words)});
  Figure& figure = sheet.figure;
  const int top = sheet.top + head;
  const double last = end_of_axis(rows);
  const Panel strip{columns.strip_left, columns.strip_right, top, top + sheet.plots};
  const Marks marks = marks_of(rows, columns, sheet.plots, last);
  place(figure, strip, "");
  label_x_axis(figure, strip,
               columns.is_narrow ? "training step" : "training step with an accuracy above 50 %");
  write_heads(figure, never, columns, top);
  write_words(figure, rows, columns, top, sheet.plots);
  figure.script.line("set border 1\nunset ytics\nunset grid\nset yrange [0:{}]", sheet.plots);
  if (!columns.is_narrow)  // there words stand over the dots
    figure.script.line("set grid xtics linetype 1 linecolor rgb '{}' linewidth 0.6", kPaleGrey);
  set_step_axis(figure, strip, last);
  std::string command =
      part_of(figure, "$bands", marks.bands,
              fmt::format("using 1:3:1:2:3:4 with boxxyerror fillcolor rgb '{}' fillstyle solid 1 noborder",
                          kBandColour));
  command += part_of(
      figure, "$medians", marks.medians,
      fmt::format("using 1:2:(0):($3-$2) with vectors nohead linewidth 2.4 linecolor rgb '{}'", kInk));
  command +=
      part_of(figure, "$dots", marks.dots,
              fmt::format("with points pointtype 7 pointsize 0.6 linecolor rgb '{}'", kInductionColour));
  plot(figure, command + "NaN");
  if (never.empty()) return std::move(sheet.figure);

  place(figure, {columns.never_left, columns.never_right, strip.top, strip.bottom}, "");
  figure.script.line("unset border\nunset xtics\nunset grid\nset xrange [0:{}]",
                     columns.never_right - columns.never_left);
  command = part_of(figure, "$crosses", marks.crosses,
                    fmt::format("with points pointtype 2 pointsize 0.7 linewidth 1.6 linecolor rgb '{}'",
                                kNotFormedColour));
  plot(figure, command + "NaN");
  return std::move(sheet.figure);
}

}  // namespace tapehead
