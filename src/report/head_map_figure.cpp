#include "tapehead/report/head_map_figure.h"

#include <algorithm>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/report/style.h"
#include "tapehead/text/display.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr int kTop = 74;
constexpr int kScale = 112;  // to the right of the map
constexpr int kAxis = 50;    // of signs one column wide and the axis' name
constexpr int kWords = 66;   // below the map
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
  int right() const { return axis + side; }
  int bottom() const { return kTop + side; }
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

/// A line of words at these pixels from the left and from the top.
void write_at(Figure& figure, int number, double left, double top, std::string_view text,
              std::string_view look) {
  figure.script.line("set label {} {} at screen {}, screen {} {}", number, gnuplot_text(text),
                     left / figure.width, 1 - top / figure.height, look);
}

void start_map(Figure& figure, const Layout& layout) {
  GnuplotScript& script = figure.script;
  script.line("set datafile missing 'nan'\nset key off");
  script.line("set border 15 linecolor rgb '{}' linewidth 0.6", kGrey);
  script.line("set lmargin at screen {}\nset rmargin at screen {}", 1.0 * layout.axis / figure.width,
              1.0 * layout.right() / figure.width);
  script.line("set tmargin at screen {}\nset bmargin at screen {}", 1 - 1.0 * kTop / figure.height,
              1 - 1.0 * layout.bottom() / figure.height);
  script.line("set xrange [-0.5:{0}]\nset yrange [{0}:-0.5]", static_cast<double>(layout.shown) - 0.5);
  script.line(
      "set object 2 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#ececec' fillstyle solid 1 "
      "noborder");
  script.line(
      "set palette defined (0 '#ffffff', 0.25 '#c6dbef', 0.5 '#6baed6', 0.75 '#2171b5', 1 '#08306b')");
  const int height = std::min(layout.side, kLongestScale);
  script.line("set cbrange [0:1]\nset colorbox user origin screen {}, screen {} size screen {}, screen {}",
              (layout.right() + 24.0) / figure.width, 1 - 1.0 * (kTop + height) / figure.height,
              14.0 / figure.width, 1.0 * height / figure.height);
  script.line("set cbtics 0.25 scale 0 font ',12' format '%.2f' textcolor rgb '{}'", kInk);
  write_at(figure, 3, layout.right() + 90.0, kTop + height / 2.0, "attention weight",
           fmt::format("center rotate by 90 font ',13' textcolor rgb '{}'", kInk));
}

/// Tokens on both axes, or positions where they cannot be read.
void draw_axes(Figure& figure, const Layout& layout, const std::vector<std::string>& signs) {
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
    script.line("set xtics autofreq nomirror out scale 0.4 font ',12' {0}", look);
    script.line("set ytics autofreq nomirror out scale 0.4 font ',12' {0}", look);
  }
  const std::string unit = layout.is_legible() ? "" : " (position)";
  const double middle = layout.side / 2.0;
  write_at(figure, 4, 12, kTop + middle, "query" + unit, "center rotate by 90 font ',13' " + look);
  write_at(figure, 5, layout.axis + middle, layout.bottom() + layout.axis - 12.0, "key" + unit,
           "center font ',13' " + look);
}

/// Lines of words below the map.
void explain(Figure& figure, std::string_view where, std::size_t length, std::size_t shown, bool marked) {
  const std::string which = shown < length
                                ? fmt::format("positions 0 to {} of the {} of {}", shown - 1, length, where)
                                : fmt::format("{}, {} position{}", where, length, length == 1 ? "" : "s");
  const std::string colours = "dark: looks there; grey: later than the query, out of sight";
  const std::string marks = marked ? "circles: after an earlier copy of the query" : "";
  int number = 6;
  double from_below = 52;
  for (const std::string& line : {which, colours, marks}) {
    write_at(figure, number++, 20, figure.height - from_below, line,
             fmt::format("left font ',12' textcolor rgb '{}'", kGrey));
    from_below -= 18;
  }
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
  Figure figure{"attention",
                std::max(layout.right() + kScale, kLeastWidth),
                layout.bottom() + layout.axis + kWords,
                {}};
  figure.script.line(
      "set label 1 '{{/:Bold=19 What layer {} head {} looks at after {} step{}}}' at screen {}, "
      "screen {} left textcolor rgb '{}'",
      map.layer, map.head, step, step == 1 ? "" : "s", 20.0 / figure.width, 1 - 26.0 / figure.height, kInk);
  write_at(figure, 2, 20, 50, run_in_words(config), fmt::format("left font ',13' textcolor rgb '{}'", kGrey));
  start_map(figure, layout);
  draw_axes(figure, layout, signs);
  const std::vector<std::vector<double>> marks = marks_of(targets, layout.shown);
  const bool marked = layout.cell >= kMarkedCell && !marks.front().empty();
  explain(figure, where, length, layout.shown, marked);
  figure.script.data("$map", cells_of(map, layout.shown));
  std::string plot = fmt::format("plot $map matrix using 1:2:($3 < 0 ? NaN : $3) with image{}",
                                 layout.shown > kManyCells ? "" : " pixels");
  if (marked) {
    figure.script.data("$marks", marks);
    plot += fmt::format(
        ", $marks using 1:2 with points pointtype 6 pointsize {:.2f} linewidth 1.2 linecolor "
        "rgb '{}'",
        layout.cell / 14, kNoiseColour);
  }
  figure.script.line("{}", plot);
  return figure;
}

}  // namespace tapehead
