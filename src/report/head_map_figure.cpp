#include "tapehead/report/head_map_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/report/colour_scale.h"
#include "tapehead/report/sheet.h"
#include "tapehead/report/style.h"
#include "tapehead/text/display.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr int kAxis = 50;  // of signs one column wide and the axis' name
constexpr int kScaleGap = 24;
constexpr int kLeastWidth = 620;
constexpr int kSmallestMap = 200;
constexpr int kLargestMap = 640;
constexpr int kLargestCell = 22;
constexpr int kLongestScale = 330;
constexpr double kLegibleCell = 9;  // smaller cells go without signs on the axes
constexpr double kMarkedCell = 5;   // and smaller ones without marks
constexpr int kSignColumn = 8;      // a column of a sign beyond the first
// Cells of longer sequences go into an SVG as one picture: as many rectangles would make it slow to show.
constexpr std::size_t kManyCells = 128;
constexpr double kShades = 1000;  // more than can be told apart

struct Layout {
  std::size_t shown;  // positions
  int side;           // of the map
  double cell;
  int axis;  // beside and below the map

  bool is_legible() const { return cell >= kLegibleCell; }
  Panel panel(int top) const { return {axis, axis + side, top, top + side}; }
};

Layout layout_of(const std::vector<std::string>& signs) {
  const std::size_t shown = std::min(signs.size(), static_cast<std::size_t>(kLongestMap));
  const int side = std::clamp(kLargestCell * static_cast<int>(shown), kSmallestMap, kLargestMap);
  Layout layout{shown, side, static_cast<double>(side) / static_cast<double>(shown), kAxis};
  int widest = 4;  // of a position
  if (layout.is_legible()) {
    widest = 1;
    for (const std::string& sign : signs) widest = std::max(widest, display_width(sign));
  }
  layout.axis += kSignColumn * (widest - 1);
  return layout;
}

void start_map(Figure& figure, const Layout& layout, const Panel& panel) {
  figure.script.line("unset grid\nset border 15 linecolor rgb '{}' linewidth 0.6", kGrey);
  figure.script.line("set xrange [-0.5:{0}]\nset yrange [{0}:-0.5]", static_cast<double>(layout.shown) - 0.5);
  set_share_palette(figure);
  set_map_ground(figure);
  place(figure, panel, "");
  show_scale_beside(figure, "attention weight", panel.right + kScaleGap, panel.top,
                    panel.top + std::min(layout.side, kLongestScale), 0.25);
}

/// Tokens on both axes, or positions where they cannot be read.
void draw_axes(Figure& figure, const Layout& layout, const Panel& panel,
               const std::vector<std::string>& signs) {
  GnuplotScript& script = figure.script;
  const std::string look = fmt::format("textcolor rgb '{}'", kInk);
  if (layout.is_legible()) {
    std::string tics;
    for (std::size_t t = 0; t < layout.shown; ++t)
      tics += fmt::format("{}{} {}", t == 0 ? "" : ", ", gnuplot_text(signs[t]), t);
    const int font = std::clamp(static_cast<int>(layout.cell), 8, 12);
    script.line("set xtics ({}) scale 0 font ',{}' {} {}", tics, font,
                layout.axis == kAxis ? "offset 0,0.4" : "rotate by 90 right", look);
    script.line("set ytics ({}) scale 0 font ',{}' offset 0.6,0 {}", tics, font, look);
  } else {
    script.line("set xtics autofreq nomirror out scale 0.4 font ',{}' {}", kSmallText, look);
    script.line("set ytics autofreq nomirror out scale 0.4 font ',{}' {}", kSmallText, look);
  }
  const std::string unit = layout.is_legible() ? "" : " (position)";
  write(figure, "query" + unit, kEdge, (panel.top + panel.bottom) / 2.0,
        {.align = "center", .is_upright = true});
  write(figure, "key" + unit, (panel.left + panel.right) / 2.0, panel.bottom + layout.axis - 12.0,
        {.align = "center"});
}

std::vector<ColouredWords> remarks_of(std::string_view where, std::size_t length, std::size_t shown,
                                      bool marked) {
  std::vector<ColouredWords> remarks{
      {shown < length ? fmt::format("positions 0 to {} of the {} of {}", shown - 1, length, where)
                      : fmt::format("{}, {} position{}", where, length, length == 1 ? "" : "s")},
      {"dark: looks there; grey: later than the query, out of sight"}};
  if (marked)
    remarks.push_back({"circles: after an earlier copy of the query, where an induction head looks"});
  return remarks;
}

/// A column a key and a row a query; -1 where the key is later.
std::vector<std::vector<double>> cells_of(const AttentionMap& map, std::size_t shown) {
  std::vector<std::vector<double>> columns(shown);
  for (std::size_t key = 0; key < shown; ++key)
    for (std::size_t query = 0; query < shown; ++query)
      columns[key].push_back(key <= query ? std::round(kShades * map.weights[query][key]) / kShades : -1);
  return columns;
}

/// Key and query of the marked cells.
std::vector<std::vector<double>> marks_of(const std::vector<std::vector<Index>>& targets, std::size_t shown) {
  std::vector<std::vector<double>> columns(2);
  for (std::size_t query = 0; query < shown; ++query)
    for (const Index key : targets[query]) {
      columns[0].push_back(static_cast<double>(key));
      columns[1].push_back(static_cast<double>(query));
    }
  return columns;
}

}  // namespace

Figure head_map_figure(const AttentionMap& map, const std::vector<std::string>& signs,
                       const std::vector<std::vector<Index>>& targets, std::string_view where,
                       const Config& config, Index step) {
  const std::size_t length = map.weights.size();
  require(length > 0 && signs.size() == length && targets.size() == length,
          "[figures] expected a map with a sign and a list of targets for each of its positions, got {}, {} "
          "and {}",
          length, signs.size(), targets.size());
  const Layout layout = layout_of(signs);
  const std::vector<std::vector<double>> marks = marks_of(targets, layout.shown);
  const bool marked = layout.cell >= kMarkedCell && !marks.front().empty();
  Sheet sheet =
      start_sheet("attention", {std::max(layout.axis + layout.side + kScaleGap + kScaleWidth, kLeastWidth)},
                  {fmt::format("What layer {} head {} looks at after {} step{}", map.layer, map.head, step,
                               step == 1 ? "" : "s"),
                   run_in_words(config),
                   {},
                   remarks_of(where, length, layout.shown, marked)},
                  {layout.axis, layout.side, layout.side});
  Figure& figure = sheet.figure;
  const Panel panel = layout.panel(sheet.top);
  start_map(figure, layout, panel);
  draw_axes(figure, layout, panel, signs);
  figure.script.data("$map", cells_of(map, layout.shown));
  std::string command = fmt::format("$map matrix using 1:2:($3 < 0 ? NaN : $3) with image{}",
                                    layout.shown > kManyCells ? "" : " pixels");
  if (marked) {
    figure.script.data("$marks", marks);
    // On white first, so that they stand out from cells of any shade.
    for (const auto& [width, colour] :
         {std::pair(2.8, std::string_view("white")), std::pair(1.3, kNoiseColour)})
      command += fmt::format(
          ", $marks using 1:2 with points pointtype 6 pointsize {:.2f} linewidth {} linecolor rgb '{}'",
          layout.cell / 14, width, colour);
  }
  plot(figure, command);
  return std::move(sheet.figure);
}

}  // namespace tapehead
