#include "tapehead/report/patching_figure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tapehead/report/style.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr int kWidth = 880;
constexpr int kTop = 70;
constexpr int kLeft = 124;
constexpr int kMapsWidth = 640;
constexpr double kLargestCell = 96;  // how wide a cell may be
constexpr int kRow = 30;
constexpr int kTightRow = 16;  // of a map with many
constexpr std::size_t kManyRows = 16;
constexpr double kRoomForLines = 6;  // between cells
constexpr int kTitle = 36;           // over each map
constexpr int kMarks = 18;           // between title and map, where positions are marked
constexpr int kNumbers = 30;         // under each map
constexpr int kAxisName = 22;        // under the numbers of positions
constexpr int kBottom = 66;
constexpr Panel kScale{kLeft + kMapsWidth + 28, kLeft + kMapsWidth + 42, 92, 222};
constexpr double kRoomForNumbers = 38;
constexpr double kRoomForTics = 22;

/// One grid of the table.
struct Map {
  std::string title;
  bool by_position = false;
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

std::string row_name(const CsvTable& table, Index row, bool names_head) {
  const std::string& layer = table.cell(row, "layer");
  if (layer == "final") return "final";
  return names_head ? fmt::format("layer {} head {}", layer, table.cell(row, "head")) : "layer " + layer;
}

std::vector<Map> maps_of(const CsvTable& table) {
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
    map.by_position = by == "position" || by == "head-position";
    const std::string column = map.by_position ? table.cell(row, "position")
                               : by == "head"  ? "head " + table.cell(row, "head")
                                               : "all heads";
    const std::size_t x = place_in(map.columns, column);
    map.cells[0].push_back(static_cast<double>(x));
    map.cells[1].push_back(
        static_cast<double>(place_in(map.rows, row_name(table, row, by == "head-position"))));
    map.cells[2].push_back(table.number(row, "effect"));
    if (map.by_position && !table.cell(row, "role").empty()) map.roles[x] = table.cell(row, "role");
  }
  return maps;
}

bool is_finite(double value) { return std::isfinite(value); }

double cell_width(const Map& map) {
  return std::min(kLargestCell, kMapsWidth / static_cast<double>(map.columns.size()));
}

/// The name of every row, and of the columns that have room.
void name_cells(Figure& figure, const Map& map) {
  std::string rows;
  for (std::size_t i = 0; i < map.rows.size(); ++i)
    rows += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", map.rows[i], i);
  figure.script.line("set ytics ({}) scale 0 font ',12'", rows);
  const std::size_t step =
      map.by_position ? static_cast<std::size_t>(std::ceil(kRoomForTics / cell_width(map))) : std::size_t{1};
  std::string columns;
  for (std::size_t i = 0; i < map.columns.size(); i += step)
    columns += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", map.columns[i], i);
  figure.script.line("set xtics ({}) scale 0 font ',12'", columns);
}

/// A letter above each position that plays a part.
void mark_roles(Figure& figure, const Map& map) {
  int tag = 200;
  for (const auto& [column, role] : map.roles)
    figure.script.line(
        "set label {} '{{/:Bold {}}}' at first {}, graph 1 center offset 0,0.7 font ',12' textcolor rgb '{}'",
        tag++,
        role == "query"  ? "Q"
        : role == "copy" ? "C"
                         : "A",
        column, kInk);
}

int height_of(const Map& map) {
  return (map.rows.size() > kManyRows ? kTightRow : kRow) * static_cast<int>(map.rows.size());
}

/// Where a map begins below what came before, and where it ends with what stands under it.
int space_over(const Map& map) { return kTitle + (map.roles.empty() ? 0 : kMarks); }
int space_under(const Map& map) { return kNumbers + (map.by_position ? kAxisName : 0); }

void start_maps(Figure& figure, double extent) {
  GnuplotScript& script = figure.script;
  script.line("unset grid\nset border 15 linecolor rgb '{}' linewidth 0.6", kGrey);
  script.line("set palette defined (-1 '#8c3a00', -0.5 '#e8935a', 0 '#ffffff', 0.5 '#5fa8d3', 1 '#08406b')");
  script.line("set cbrange [{}:{}]", -extent, extent);
  script.line(
      "set object 2 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#ececec' fillstyle solid 1 "
      "noborder");
}

void show_scale(Figure& figure, double extent) {
  GnuplotScript& script = figure.script;
  script.line("set colorbox user origin screen {}, screen {} size screen {}, screen {}",
              1.0 * kScale.left / figure.width, 1 - 1.0 * kScale.bottom / figure.height,
              1.0 * (kScale.right - kScale.left) / figure.width,
              1.0 * (kScale.bottom - kScale.top) / figure.height);
  script.line("set cbtics {} scale 0 font ',12' format '%g'", extent > 2 ? extent / 2 : 0.5);
  script.line(
      "set label 1004 'effect' at screen {}, screen {} center rotate by 90 font ',13' textcolor rgb '{}'",
      (kScale.right + 52.0) / figure.width, 1 - 0.5 * (kScale.top + kScale.bottom) / figure.height, kInk);
}

void explain(Figure& figure, const CsvTable& table) {
  const auto nats = [&](const char* column) {
    const double value = table.number(0, column);
    return fmt::format("{}{:.2f}", value < 0 ? "−" : "", std::abs(value));
  };
  const std::string first = fmt::format(
      "effect: restored share of what the right token's log-probability loses from clean ({} nats) to "
      "corrupted "
      "({})",
      nats("clean"), nats("corrupted"));
  const std::string second = fmt::format(
      "C: copy of the query's token, where another stands in corrupted sequences · A: after the copy, the "
      "token to "
      "copy · Q: query");
  const std::string third =
      fmt::format("step {}, {} sequences of one structure, period {}", table.cell(0, "step"),
                  table.cell(0, "sequences"), table.cell(0, "period"));
  int height = 52;
  for (const std::string& line : {first, second, third}) {
    figure.script.line("set label {} {} at screen {}, screen {} left font ',12' textcolor rgb '{}'",
                       1100 + height, gnuplot_text(line), 20.0 / figure.width, 1.0 * height / figure.height,
                       kGrey);
    height -= 18;
  }
}

void plot(Figure& figure, const Map& map, std::size_t number, int top, double extent) {
  GnuplotScript& script = figure.script;
  const int width = static_cast<int>(cell_width(map) * static_cast<double>(map.columns.size()));
  place(figure, {kLeft, kLeft + width, top, top + height_of(map)}, "");
  script.line(
      "set label 26 '{{/:Bold {}}}' at graph 0, graph 1 left offset 0,{} font ',13' textcolor rgb '{}'",
      map.title, map.roles.empty() ? 0.8 : 1.9, kInk);
  if (map.by_position)
    script.line(
        "set label 27 'position' at graph 0.5, graph 0 center offset 0,-1.9 font ',12' textcolor rgb '{}'",
        kInk);
  name_cells(figure, map);
  mark_roles(figure, map);
  script.line("set xrange [-0.5:{}]\nset yrange [{}:-0.5]", static_cast<double>(map.columns.size()) - 0.5,
              static_cast<double>(map.rows.size()) - 0.5);
  const std::string block = fmt::format("$patches_{}", number);
  script.data(block, map.cells);
  std::string command = fmt::format(
      "plot {} using 1:2:(0.5):(0.5):3 with boxxyerror fillcolor palette fillstyle solid 1 ", block);
  command += cell_width(map) < kRoomForLines ? "noborder" : fmt::format("border rgb '{}'", kPaleGrey);
  // (gnuplot 5.4 crashes on labels of which none is there.)
  if (cell_width(map) >= kRoomForNumbers && std::ranges::any_of(map.cells[2], is_finite))
    command += fmt::format(
        ", {} using 1:2:(abs($3) < 0.005 ? '0' : ($3 < 0 ? '−' : '+').sprintf('%.2f', abs($3))):(abs($3) > "
        "{} ? 0xffffff : 0x222222) with labels center font "
        "',12' textcolor rgb variable",
        block, 0.6 * extent);
  script.line("{}\nunset label\nunset colorbox", command);
}

}  // namespace

Figure patching_figure(const CsvTable& patchings, const Config& config) {
  const std::vector<Map> maps = maps_of(patchings);
  double extent = 1;
  int height = kTop + kBottom;
  for (const Map& map : maps) {
    height += space_over(map) + height_of(map) + space_under(map);
    for (const double effect : map.cells[2])
      if (std::isfinite(effect)) extent = std::max(extent, std::abs(effect));
  }
  Figure figure = start_figure("patching", kWidth, height,
                               "What of a clean run restores a corrupted one's answer", run_in_words(config));
  start_maps(figure, extent);
  show_scale(figure, extent);
  explain(figure, patchings);
  int top = kTop;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    top += space_over(maps[i]);
    plot(figure, maps[i], i, top, extent);
    top += height_of(maps[i]) + space_under(maps[i]);
  }
  return figure;
}

}  // namespace tapehead
