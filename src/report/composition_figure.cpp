#include "tapehead/report/composition_figure.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tapehead/base/require.h"
#include "tapehead/report/colour_scale.h"
#include "tapehead/report/lettering.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kTitle = 18;  // over the maps
constexpr int kGap = 32;
constexpr int kNarrowGap = 16;
constexpr int kLeastMap = 76;
constexpr int kNameRoom = 26;       // of a head's name on an axis
constexpr int kNumberRoom = 40;     // of a number in a cell
constexpr double kDarkBlue = 0.78;  // of the reach, from where white is easier to read on blue than black
constexpr std::string_view kName = "composition score";

constexpr std::array<std::string_view, 3> kWays{"Q", "K", "V"};
constexpr std::array<std::string_view, 3> kTitles{"Q: by its queries", "K: by its keys", "V: by its values"};
constexpr std::array<std::string_view, 3> kShortTitles{"Q: queries", "K: keys", "V: values"};

/// Heads on an axis, from `first` on: named each, or by layer where a map is too small for so many.
std::string tics(const ModelConfig& model, Index first_layer, Index layers, int map) {
  std::string text;
  const Index step = layers * model.heads * kNameRoom <= map ? 1 : model.heads;
  for (Index i = 0; i < layers * model.heads; i += step) {
    const Index layer = first_layer + i / model.heads;
    text += fmt::format("{}'{}' {}", i == 0 ? "" : ", ",
                        step == 1 ? fmt::format("{}.{}", layer, i % model.heads) : fmt::format("{}", layer),
                        static_cast<double>(i) + (step == 1 ? 0 : 0.5 * static_cast<double>(step - 1)));
  }
  return text;
}

/// Column, row and score of a whole map, as an image wants it; -1 where there is no such pair.
std::vector<std::vector<double>> cells_of(const CsvTable& table, std::string_view way, Index heads,
                                          Index layers) {
  const Index size = layers * heads;
  std::vector<std::vector<double>> columns(3);
  for (Index i = 0; i < size * size; ++i) {
    columns[0].push_back(static_cast<double>(i % size));
    columns[1].push_back(static_cast<double>(i / size));
    columns[2].push_back(-1);
  }
  const auto number = [&](Index row, const char* name) { return table.whole_number(row, name); };
  for (Index row = 0; row < table.rows(); ++row) {
    if (table.cell(row, "composition") != way) continue;
    const Index later = (number(row, "layer") - 1) * heads + number(row, "head");
    const Index earlier = number(row, "earlier_layer") * heads + number(row, "earlier_head");
    require(later >= 0 && later < size && earlier >= 0 && earlier < size,
            "[figures] composition.csv has a head that the run's model does not have");
    columns[2][static_cast<std::size_t>(earlier * size + later)] = table.number(row, "score");
  }
  return columns;
}

std::vector<ColouredWords> remarks_of(const CsvTable& table, double baseline) {
  return {
      {"|W_A W_B| / (|W_A| |W_B|) with Frobenius norms: W_A the earlier head's OV, W_B the later one's QK "
       "(Q), its transpose (K), or OV (V)"},
      {fmt::format("white: random matrices of these shapes score {:.3f} ± {:.3f}; blue: more, orange: "
                   "less; grey: no such pair; step {}",
                   baseline, table.number(0, "baseline_spread"), table.cell(0, "step"))}};
}

/// How far scores go from the baseline.
double reach_of(const CsvTable& composition, double baseline) {
  double reach = std::max(4 * composition.number(0, "baseline_spread"), 0.01);
  for (const double score : composition.numbers("score"))
    if (std::isfinite(score)) reach = std::max(reach, std::abs(score - baseline));
  return reach;
}

void start_maps(Figure& figure, double baseline, double reach, Index heads) {
  GnuplotScript& script = figure.script;
  script.line("unset grid\nset border 15 linecolor rgb '{}' linewidth 0.6", kGrey);
  script.line("set xrange [-0.5:{0}]\nset yrange [{0}:-0.5]", static_cast<double>(heads) - 0.5);
  set_map_ground(figure);
  script.line(
      "set palette defined (0 '#b35806', 0.25 '#f1a340', 0.5 '#ffffff', 0.75 '#6baed6', 1 '#08519c')\n"
      "set cbrange [{}:{}]",
      baseline - reach, baseline + reach);
}

/// As long as there is room beside the map and its title.
std::string_view name_of_rows(const Panel& panel) {
  constexpr std::string_view kLong = "earlier head (layer.head)";
  return text_width(kLong, kText) <= panel.height() + 2 * kTitle ? kLong : "earlier head";
}

/// The map of one way to compose, with numbers in the cells that have room for them.
void draw_map(Figure& figure, const Panel& panel, const CsvTable& composition, std::size_t way,
              const ModelConfig& model, double baseline, double reach) {
  const Index later = (model.layers - 1) * model.heads;
  const bool named = later * kNameRoom <= panel.width();
  place(figure, panel, way > 0 ? "" : named ? name_of_rows(panel) : "earlier layer");
  label_x_axis(figure, panel, named ? "later head" : "later layer");
  const bool has_room = text_width(kTitles[way], kText, true) <= panel.width() + kNarrowGap / 2;
  write(figure, has_room ? kTitles[way] : kShortTitles[way], (panel.left + panel.right) / 2.0, panel.top - 12,
        {.is_bold = true, .align = "center"});
  const Index layers = model.layers - 1;
  const std::string block = fmt::format("${}", kWays[way]);
  const std::vector<std::vector<double>> cells = cells_of(composition, kWays[way], model.heads, layers);
  figure.script.data(block, cells);
  const std::string numbers = layers * model.heads * kNumberRoom <= panel.width()
                                  ? fmt::format(
                                        ", {} using 1:2:($3 < 0 ? '' : sprintf('%.3f', $3)):($3 - {} "
                                        "> {} ? 0xffffff : 0x000000) with "
                                        "labels center font ',{}' textcolor rgb variable",
                                        block, baseline, kDarkBlue * reach, kText)
                                  : "";
  const auto& scores = cells.back();
  // gnuplot refuses an image without a number.
  plot(figure, std::any_of(scores.begin(), scores.end(), [](double score) { return score >= 0; })
                   ? fmt::format("{} using 1:2:($3 < 0 ? NaN : $3) with image pixels{}", block, numbers)
                   : "NaN");
  figure.script.line("unset colorbox");
}

}  // namespace

Figure composition_figure(const CsvTable& composition, const Config& config, const FigureSize& size) {
  const double baseline = composition.number(0, "baseline");
  const double reach = reach_of(composition, baseline);
  const ModelConfig& model = config.model;
  const Index layers = model.layers - 1;
  const bool narrow = is_narrow(size);
  const int gap = narrow ? kNarrowGap : kGap;
  const int room = size.width - kPlotLeft - kEdge - (narrow ? 0 : kScaleWidth + 10);
  const int widest = (room + gap) / 3 - gap;
  Sheet sheet =
      start_sheet("composition", size,
                  {.title = "Which later head reads what which earlier head writes",
                   .subtitle = run_in_words(config),
                   .remarks = remarks_of(composition, baseline)},
                  {kTitle + kXAxis + (narrow ? kScaleHeight : 0), widest, std::min(widest, kLeastMap)});
  Figure& figure = sheet.figure;
  const int map = std::min(widest, sheet.plots);
  const int top = sheet.top + kTitle;
  start_maps(figure, baseline, reach, layers * model.heads);
  figure.script.line("set xtics ({}) scale 0 font ',{}' offset 0,0.3", tics(model, 1, layers, map),
                     kSmallText);
  const double step = tic_step(2 * reach, 5);
  if (narrow)
    show_scale_below(figure, kName, kEdge, top + map + kXAxis + 6, step);
  else
    show_scale_beside(figure, kName, kPlotLeft + 3 * (map + gap) - gap + 20, top, top + map, step);
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    const int left = kPlotLeft + static_cast<int>(way) * (map + gap);
    if (way == 0)
      figure.script.line("set ytics ({}) scale 0 font ',{}'", tics(model, 0, layers, map), kSmallText);
    else
      figure.script.line("unset ytics");
    draw_map(figure, {left, left + map, top, top + map}, composition, way, model, baseline, reach);
  }
  return std::move(sheet.figure);
}

}  // namespace tapehead
