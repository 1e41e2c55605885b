#include "tapehead/report/phase_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/report/colour_scale.h"
#include "tapehead/report/lettering.h"
#include "tapehead/train/csv.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kCell = 36;
constexpr int kLeastCell = 18;
constexpr double kLeftShare = 0.25;  // of the figure that values on the y axis may take
constexpr int kTitle = 26;           // of a row of maps, and of a map
constexpr int kGap = 16;             // between maps side by side
constexpr int kBetween = 18;         // from the upper maps to the title of the lower
constexpr int kXNumbers = 24;        // under the upper maps
constexpr int kScaleTic = 22;        // from one number of a scale to the next
constexpr int kTicGap = 8;           // between values on the x axis
constexpr double kCellEdge = 4;      // beside what is written in a cell
constexpr std::string_view kStepPalette =
    "set palette defined (0 '#fff5e0', 0.35 '#fdbb63', 0.7 '#d95f0e', 1 '#7a2a04')";

/// What one map shows of a cell: its place on the measure's scale, none for grey, and what is written there.
struct Shown {
  std::optional<double> colour;
  std::string words;
  std::string short_words;  ///< where there is no room for them
};

/// One of the two rows of maps.
struct Measure {
  std::string title;
  std::string short_title;  ///< where there is no room for it
  std::string scale;
  double low;
  double high;
  Shown (*show)(const CensoredQuartiles& runs);
};

Shown share_of(const CensoredQuartiles& runs) {
  return {static_cast<double>(runs.known) / static_cast<double>(runs.runs),
          fmt::format("{}/{}", runs.known, runs.runs), fmt::format("{}", runs.known)};
}

/// "1.3k" for 1260
std::string in_thousands(double steps) {
  return steps < 1000 ? fmt::format("{:.0f}", steps) : fmt::format("{:.2g}k", steps / 1000);
}

Shown median_of(const CensoredQuartiles& runs) {
  const Quantile& median = runs.median;
  if (!median.value)
    return {{}, fmt::format("> {}", median.not_by), ">" + in_thousands(static_cast<double>(median.not_by))};
  return {*median.value, fmt::format("{:.0f}", *median.value), in_thousands(*median.value)};
}

/// Values of one field in the order in which cells have them first.
std::vector<std::string> values_of(std::span<const PhaseCell> cells, std::size_t field) {
  std::vector<std::string> values;
  for (const PhaseCell& cell : cells)
    if (std::ranges::find(values, cell.point[field].value) == values.end())
      values.push_back(cell.point[field].value);
  return values;
}

double widest_of(const std::vector<std::string>& values) {
  double widest = 0;
  for (const std::string& value : values) widest = std::max(widest, text_width(value, kSmallText));
  return widest;
}

double place_of(const std::vector<std::string>& values, const std::string& value) {
  return static_cast<double>(std::ranges::find(values, value) - values.begin());
}

/// The fields and their values, and where maps stand.
struct Layout {
  std::vector<std::vector<std::string>> values = {};  // of each field
  std::vector<std::string> keys = {};
  int left = 0;
  int map = 0;  // how wide one is
  int gap = kGap;
  bool narrow = false;

  std::size_t maps() const { return values.size() == 3 ? values[2].size() : 1; }
  std::size_t rows() const { return values[0].size(); }
  std::size_t columns() const { return values[1].size(); }
  Panel panel(std::size_t which, int top, int height) const {
    const int from = left + static_cast<int>(which) * (map + gap);
    return {from, from + map, top, top + height};
  }
};

void require_cells(std::span<const PhaseCell> cells) {
  require(!cells.empty(), "[figures] expected at least one setting");
  for (const PhaseCell& cell : cells) {
    require(has_phase_figure(cell.point.size()), "[figures] expected settings of two or three fields, got {}",
            cell.point.size());
    require(!cell.runs.empty(), "[figures] expected at least one run of every setting, got none of '{}'",
            in_words(cell.point));
    for (std::size_t field = 0; field < cell.point.size(); ++field)
      require(cell.point.size() == cells.front().point.size() &&
                  cell.point[field].field == cells.front().point[field].field,
              "[figures] expected settings of the same fields, got '{}' beside '{}'", in_words(cell.point),
              in_words(cells.front().point));
  }
}

Layout layout_of(std::span<const PhaseCell> cells, const FigureSize& size) {
  Layout layout{.narrow = is_narrow(size)};
  for (std::size_t field = 0; field < cells.front().point.size(); ++field) {
    layout.values.push_back(values_of(cells, field));
    layout.keys.emplace_back(cells.front().point[field].key());
  }
  const double label = std::min(widest_of(layout.values[0]), kLeftShare * size.width);
  layout.left = kEdge + kLine + static_cast<int>(std::ceil(label)) + 2 * kTicGap;
  if (layout.narrow) layout.gap = kGap / 2;
  const int maps = static_cast<int>(layout.maps());
  const int room = size.width - layout.left - kEdge - (layout.narrow ? 0 : kScaleWidth + 10);
  const int cell = std::max(3 * kCell, static_cast<int>(std::ceil(widest_of(layout.values[1]))) + kTicGap);
  const int widest = cell * static_cast<int>(layout.columns());
  layout.map = std::min((room + layout.gap) / maps - layout.gap, widest);
  return layout;
}

std::string tics_of(const std::vector<std::string>& values, std::size_t stride, double room) {
  std::string tics;
  for (std::size_t i = 0; i < values.size(); i += stride)
    tics +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_text(shortened(values[i], room, kSmallText)), i);
  return tics;
}

/// Values under cells of such a width: of numbers that have no room every other and so on, other words as far
/// as they go.
std::string x_tics(const std::vector<std::string>& values, double width) {
  const bool are_numbers =
      std::ranges::all_of(values, [](const std::string& value) { return number_in(value).has_value(); });
  if (!are_numbers) return tics_of(values, 1, width - kTicGap);
  const double stride = std::max(1.0, std::ceil((widest_of(values) + kTicGap) / width));
  return tics_of(values, static_cast<std::size_t>(stride), stride * width);
}

/// As much of what a cell shows as has room; none if there is none.
std::string words_for(const Shown& shown, double room) {
  for (const std::string& words : {shown.words, shown.short_words})
    if (text_width(words, kSmallText) <= room) return words;
  return {};
}

/// Cells of one map, and what is written in those that have room.
void draw_map(Figure& figure, std::span<const PhaseCell> cells, const Layout& layout, const Measure& measure,
              std::size_t which, const Panel& panel) {
  std::vector<std::vector<double>> coloured(3);
  std::vector<std::vector<double>> grey(2);
  const double width = 1.0 * panel.width() / static_cast<double>(layout.columns());
  const double height = 1.0 * panel.height() / static_cast<double>(layout.rows());
  for (const PhaseCell& cell : cells) {
    if (layout.maps() > 1 && place_of(layout.values[2], cell.point[2].value) != static_cast<double>(which))
      continue;
    const double x = place_of(layout.values[1], cell.point[1].value);
    const double y = place_of(layout.values[0], cell.point[0].value);
    const Shown shown = measure.show(quartiles(cell.runs));
    bool is_dark = false;
    if (shown.colour) {
      for (const auto& [column, value] : {std::pair(0, x), std::pair(1, y), std::pair(2, *shown.colour)})
        coloured[static_cast<std::size_t>(column)].push_back(value);
      is_dark = *shown.colour - measure.low > 0.6 * (measure.high - measure.low);
    } else {
      grey[0].push_back(x);
      grey[1].push_back(y);
    }
    if (const std::string words = words_for(shown, width - kCellEdge); !words.empty())
      write(figure, words, panel.left + (x + 0.5) * width, panel.bottom - (y + 0.5) * height,
            {.colour = is_dark ? "#ffffff" : kInk, .size = kSmallText, .align = "center"});
  }
  std::string command;
  constexpr std::string_view kBox = "with boxxyerror fillstyle solid 1 border rgb '#ffffff'";
  if (!grey[0].empty()) {
    figure.script.data("$grey", grey);
    command += fmt::format("$grey using 1:2:(0.5):(0.5) {} fillcolor rgb '#d9d9d9', ", kBox);
  }
  if (!coloured[0].empty()) {
    figure.script.data("$cells", coloured);
    command += fmt::format("$cells using 1:2:(0.5):(0.5):3 {} fillcolor palette, ", kBox);
  }
  plot(figure, command + "NaN");
}

/// Beside the maps, or where there is no room, below them and their x axis.
void show_scale(Figure& figure, const Layout& layout, const Measure& measure, int top, int height,
                int x_axis) {
  if (measure.high <= measure.low) return;  // nothing has a place on it
  const double most = layout.narrow ? 5 : std::clamp(height / kScaleTic, 1, 5);
  const double step = tic_step(measure.high - measure.low, most);
  if (layout.narrow)
    show_scale_below(figure, measure.scale, kEdge, top + height + x_axis + 6, step);
  else
    show_scale_beside(figure, measure.scale, layout.panel(layout.maps() - 1, 0, 0).right + 20, top,
                      top + height, step);
}

/// A row of maps from `top`, where its title stands; `last` has the name of the x axis below it.
void draw_row(Figure& figure, std::span<const PhaseCell> cells, const Layout& layout, const Measure& measure,
              int top, int height, bool last) {
  const bool has_room = text_width(measure.title, kText, true) <= figure.width - layout.left - kEdge;
  write(figure, has_room ? measure.title : measure.short_title, layout.left, top + kTitle / 2.0,
        {.is_bold = true});
  const int first = top + kTitle + (layout.maps() > 1 ? kTitle : 0);
  if (measure.high > measure.low) figure.script.line("set cbrange [{}:{}]", measure.low, measure.high);
  for (std::size_t which = 0; which < layout.maps(); ++which) {
    const Panel panel = layout.panel(which, first, height);
    place(figure, panel, which == 0 ? layout.keys[0] : "");
    if (layout.maps() > 1)
      write(figure, shortened(layout.keys[2] + " " + layout.values[2][which], panel.width(), kText),
            0.5 * (panel.left + panel.right), first - kTitle / 2.0, {.align = "center"});
    if (last) label_x_axis(figure, panel, layout.keys[1]);
    figure.script.line("set xtics ({}) scale 0 font ',{}' offset 0,0.3 textcolor rgb '{}'",
                       x_tics(layout.values[1], 1.0 * panel.width() / static_cast<double>(layout.columns())),
                       kSmallText, kInk);
    if (which == 0)
      figure.script.line("set ytics ({}) scale 0 font ',{}' textcolor rgb '{}'",
                         tics_of(layout.values[0], 1, kLeftShare * figure.width), kSmallText, kInk);
    else
      figure.script.line("unset ytics");
    if (which == 0) show_scale(figure, layout, measure, first, height, last ? kXAxis : kXNumbers);
    draw_map(figure, cells, layout, measure, which, panel);
    figure.script.line("unset colorbox");
  }
}

/// The longest of the median steps, as the end of their scale.
double last_median(std::span<const PhaseCell> cells) {
  double last = 0;
  for (const PhaseCell& cell : cells) last = std::max(last, quartiles(cell.runs).median.value.value_or(0));
  if (last <= 0) return 0;
  const double step = tic_step(last, 5);
  return step * std::ceil(last / step);
}

/// What grey stands for, if there is any, before what the caller remarks.
std::vector<ColouredWords> remarks_of(std::span<const PhaseCell> cells, const PhaseCaption& caption) {
  std::vector<ColouredWords> remarks;
  if (std::ranges::any_of(cells, [](const PhaseCell& cell) { return !quartiles(cell.runs).median.value; }))
    remarks.push_back({"grey: half of the runs or more had not learnt it by their last step"});
  remarks.insert(remarks.end(), caption.remarks.begin(), caption.remarks.end());
  return remarks;
}

}  // namespace

Figure phase_figure(std::span<const PhaseCell> cells, const PhaseCaption& caption, const FigureSize& size) {
  require_cells(cells);
  const Layout layout = layout_of(cells, size);
  const int rows = static_cast<int>(layout.rows());
  const int titles = kTitle * (layout.maps() > 1 ? 2 : 1);  // of one row
  const int scale = layout.narrow ? kScaleHeight : 0;
  Sheet sheet = start_sheet(
      "phase", size,
      {.title = "Where heads form, and when",
       .subtitle = caption.subtitle,
       .remarks = remarks_of(cells, caption)},
      {2 * (titles + scale) + kXNumbers + kBetween + kXAxis, 2 * rows * kCell, 2 * rows * kLeastCell});
  Figure& figure = sheet.figure;
  figure.script.line("unset grid\nset border 15 linecolor rgb '{}' linewidth 0.6", kGrey);
  figure.script.line("set xrange [-0.5:{}]\nset yrange [-0.5:{}]",
                     static_cast<double>(layout.columns()) - 0.5, static_cast<double>(layout.rows()) - 0.5);
  const int height = sheet.plots / 2;
  set_share_palette(figure);
  draw_row(figure, cells, layout,
           {"Share of the runs that learn to copy half of what can be copied", "Share that learn to copy",
            "share", 0, 1, share_of},
           sheet.top, height, false);
  figure.script.line("{}", kStepPalette);
  draw_row(figure, cells, layout,
           {"Median step at which they do", "Median step", "step", 0, last_median(cells), median_of},
           sheet.top + titles + height + kXNumbers + scale + kBetween, height, true);
  return std::move(sheet.figure);
}

}  // namespace tapehead
