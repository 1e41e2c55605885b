#include "tapehead/report/patching_figure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tapehead/report/colour_scale.h"
#include "tapehead/report/lettering.h"
#include "tapehead/report/line_ends.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr double kLargestCell = 96;  // how wide a cell may be
constexpr int kRow = 30;
constexpr int kTightRow = 16;  // of a map with many
constexpr int kLeastRow = 13;
constexpr std::size_t kManyRows = 16;
constexpr double kRoomForLines = 6;  // between cells
constexpr int kTitle = 26;           // over each map
constexpr int kMarks = 16;           // between title and map, where positions are marked
constexpr int kMarkRoom = 11;        // of one such mark
constexpr int kNumbers = 26;         // under each map
constexpr int kAxisName = 18;        // under the numbers of positions
constexpr int kBetween = 18;         // from map to map
constexpr int kBesideName = 8;       // from a row's name to its cells
constexpr int kScaleGap = 24;        // from the maps to the scale beside them
constexpr int kScaleLength = 130;
constexpr double kRoomForNumbers = 38;
constexpr double kRoomForTics = 22;

/// One grid of the table.
struct Map {
  std::string title;
  std::string axis = {};  ///< what its columns are, where their names do not say so
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::vector<double>> cells{3};      ///< column, row, effect
  std::map<std::size_t, std::string> roles = {};  ///< of columns
};

std::size_t place_in(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

std::string row_name(const CsvTable& table, Index row, bool names_head, bool narrow) {
  const std::string& layer = table.cell(row, "layer");
  if (layer == "final") return "final";
  if (!names_head) return "layer " + layer;
  return narrow ? layer + "." + table.cell(row, "head")
                : fmt::format("layer {} head {}", layer, table.cell(row, "head"));
}

std::vector<Map> maps_of(const CsvTable& table, bool narrow) {
  std::vector<Map> maps;
  std::string last;
  for (Index row = 0; row < table.rows(); ++row) {
    const std::string& by = table.cell(row, "by");
    const std::string& to = table.cell(row, "to");
    const std::string grid =
        table.cell(row, "site") + " by " + by + (to.empty() ? "" : ", to " + to + " alone");
    if (grid != last) {
      maps.emplace_back();
      maps.back().title = last = grid;
      std::ranges::replace(maps.back().title, '_', ' ');
    }
    Map& map = maps.back();
    const bool by_position = by == "position" || by == "head-position";
    map.axis = by_position ? "position" : by == "head" && narrow ? "head" : "";
    const std::string column = by_position    ? table.cell(row, "position")
                               : by != "head" ? "all heads"
                                              : (narrow ? "" : "head ") + table.cell(row, "head");
    const std::size_t x = place_in(map.columns, column);
    map.cells[0].push_back(static_cast<double>(x));
    map.cells[1].push_back(
        static_cast<double>(place_in(map.rows, row_name(table, row, by == "head-position", narrow))));
    map.cells[2].push_back(table.number(row, "effect"));
    if (by_position && !table.cell(row, "role").empty()) map.roles[x] = table.cell(row, "role");
  }
  return maps;
}

bool is_finite(double value) { return std::isfinite(value); }

/// Where maps stand beside the names of their rows, and how far apart rows are.
struct MapLayout {
  int left;
  int width;
  double stretch = 1;  ///< of rows, where a height is asked for
  std::vector<std::vector<std::string>> titles = {};

  double cell_width(const Map& map) const {
    return std::min(kLargestCell, width / static_cast<double>(map.columns.size()));
  }
  Panel panel(const Map& map, int top) const {
    const int row = map.rows.size() >= kManyRows ? kTightRow : kRow;
    const double height = stretch * row * static_cast<double>(map.rows.size());
    return {left, left + static_cast<int>(cell_width(map) * static_cast<double>(map.columns.size())), top,
            top + static_cast<int>(height)};
  }
  int space_over(std::size_t map, bool has_marks) const {
    return kTitle + kLine * (static_cast<int>(titles[map].size()) - 1) + (has_marks ? kMarks : 0);
  }
};

int space_under(const Map& map) { return kNumbers + (map.axis.empty() ? 0 : kAxisName); }

MapLayout layout_of(const std::vector<Map>& maps, int width) {
  double widest = 0;
  for (const Map& map : maps)
    for (const std::string& row : map.rows) widest = std::max(widest, text_width(row, kSmallText));
  const int left = kEdge + static_cast<int>(widest) + kBesideName;
  MapLayout layout{left, width - left - kEdge};
  for (const Map& map : maps) layout.titles.push_back(wrap(map.title, layout.width, kText, true));
  return layout;
}

PlotHeights heights_of(const std::vector<Map>& maps, const MapLayout& layout) {
  PlotHeights heights;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    heights.around +=
        layout.space_over(i, !maps[i].roles.empty()) + space_under(maps[i]) + (i > 0 ? kBetween : 0);
    heights.plots += layout.panel(maps[i], 0).height();
    heights.least += kLeastRow * static_cast<int>(maps[i].rows.size());
  }
  return heights;
}

/// The name of every row, and of the columns that have room.
void name_cells(Figure& figure, const Map& map, double cell_width) {
  std::string rows;
  for (std::size_t i = 0; i < map.rows.size(); ++i)
    rows += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", map.rows[i], i);
  figure.script.line("set ytics ({}) scale 0 font ',{}'", rows, kSmallText);
  double room = kRoomForTics;
  for (const std::string& column : map.columns)
    room = std::max(room, text_width(column, kSmallText) + kBesideName);
  const auto step = static_cast<std::size_t>(std::ceil(room / cell_width));
  std::string columns;
  for (std::size_t i = 0; i < map.columns.size(); i += step)
    columns += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", map.columns[i], i);
  figure.script.line("set xtics ({}) scale 0 font ',{}'", columns, kSmallText);
}

/// A letter above each position that plays a part.
void mark_roles(Figure& figure, const Map& map, const Panel& panel, double cell_width) {
  std::vector<double> wanted;
  for (const auto& [column, role] : map.roles)
    wanted.push_back(panel.left + cell_width * (static_cast<double>(column) + 0.5));
  const std::vector<double> places = spread(wanted, kMarkRoom);
  std::size_t i = 0;
  for (const auto& [column, role] : map.roles)
    write(figure,
          role == "query"  ? "Q"
          : role == "copy" ? "C"
                           : "A",
          places[i++], panel.top - 9, {.size = kSmallText, .is_bold = true, .align = "center"});
}

void start_maps(Figure& figure, double extent) {
  GnuplotScript& script = figure.script;
  script.line("unset grid\nset border 15 linecolor rgb '{}' linewidth 0.6", kGrey);
  script.line("set palette defined (-1 '#8c3a00', -0.5 '#e8935a', 0 '#ffffff', 0.5 '#5fa8d3', 1 '#08406b')");
  script.line("set cbrange [{}:{}]", -extent, extent);
  set_map_ground(figure);
}

Caption caption_of(const CsvTable& table, const Config& config, bool narrow) {
  const auto nats = [&](const char* column) { return in_figures(table.number(0, column)); };
  Caption caption{.title = "What of a clean run restores a corrupted one's answer",
                  .subtitle = run_in_words(config)};
  caption.remarks = {
      {fmt::format("effect: restored share of what the right token's log-probability loses from clean ({} "
                   "nats) to corrupted ({})",
                   nats("clean"), nats("corrupted"))},
      {"C: copy of the query's token, where another stands in corrupted sequences · A: after the copy, the "
       "token to copy · Q: query"},
      {fmt::format("step {}, {} sequences of one structure, period {}{}", table.cell(0, "step"),
                   table.cell(0, "sequences"), table.cell(0, "period"),
                   narrow ? " · 0.1: head 1 of layer 0" : "")}};
  return caption;
}

void draw_map(Figure& figure, const Map& map, std::size_t number, const MapLayout& layout, const Panel& panel,
              double extent) {
  GnuplotScript& script = figure.script;
  const double cell = layout.cell_width(map);
  place(figure, panel, "");
  double y = panel.top - layout.space_over(number, !map.roles.empty()) + kTitle / 2.0;
  for (const std::string& line : layout.titles[number]) {
    write(figure, line, panel.left, y, {.is_bold = true});
    y += kLine;
  }
  if (!map.axis.empty())
    write(figure, map.axis, (panel.left + panel.right) / 2.0, panel.bottom + kNumbers + 6,
          {.size = kSmallText, .align = "center"});
  name_cells(figure, map, cell);
  mark_roles(figure, map, panel, cell);
  script.line("set xrange [-0.5:{}]\nset yrange [{}:-0.5]", static_cast<double>(map.columns.size()) - 0.5,
              static_cast<double>(map.rows.size()) - 0.5);
  const std::string block = fmt::format("$patches_{}", number);
  script.data(block, map.cells);
  std::string command =
      fmt::format("{} using 1:2:(0.5):(0.5):3 with boxxyerror fillcolor palette fillstyle solid 1 ", block);
  command += cell < kRoomForLines ? "noborder" : fmt::format("border rgb '{}'", kPaleGrey);
  // (gnuplot 5.4 crashes on labels of which none is there.)
  if (cell >= kRoomForNumbers && std::ranges::any_of(map.cells[2], is_finite))
    command += fmt::format(
        ", {} using 1:2:(abs($3) < 0.005 ? '0' : ($3 < 0 ? '−' : '+').sprintf('%.2f', abs($3))):(abs($3) > "
        "{} ? 0xffffff : 0x222222) with labels center font ',{}' textcolor rgb variable",
        block, 0.6 * extent, kSmallText);
  plot(figure, command);
  script.line("unset colorbox");
}

}  // namespace

Figure patching_figure(const CsvTable& patchings, const Config& config, const FigureSize& size) {
  const bool narrow = is_narrow(size);
  const std::vector<Map> maps = maps_of(patchings, narrow);
  double extent = 1;
  for (const Map& map : maps)
    for (const double effect : map.cells[2])
      if (std::isfinite(effect)) extent = std::max(extent, std::abs(effect));
  MapLayout layout = layout_of(maps, size.width - (narrow ? 0 : kScaleWidth + kScaleGap));
  PlotHeights heights = heights_of(maps, layout);
  const int natural = heights.plots;
  if (narrow) heights.around += kScaleHeight;
  Sheet sheet = start_sheet("patching", size, caption_of(patchings, config, narrow), heights);
  layout.stretch = 1.0 * sheet.plots / natural;
  start_maps(sheet.figure, extent);
  const double tics = tic_step(2 * extent, 4);
  const int top = sheet.top + (narrow ? kScaleHeight : 0);
  if (narrow)
    show_scale_below(sheet.figure, "effect", kEdge, sheet.top, tics);
  else
    show_scale_beside(sheet.figure, "effect", layout.left + layout.width + kScaleGap, top + kTitle,
                      top + kTitle + kScaleLength, tics);
  int y = top;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    y += layout.space_over(i, !maps[i].roles.empty());
    const Panel panel = layout.panel(maps[i], y);
    draw_map(sheet.figure, maps[i], i, layout, panel, extent);
    y = panel.bottom + space_under(maps[i]) + kBetween;
  }
  return std::move(sheet.figure);
}

}  // namespace tapehead
