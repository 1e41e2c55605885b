#include "tapehead/report/composition_figure.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tapehead/base/require.h"
#include "tapehead/report/style.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr int kTop = 104;
constexpr int kLeft = 74;
constexpr int kMap = 214;
constexpr int kGap = 36;
constexpr int kScaleWidth = 112;
constexpr int kBottom = 112;
constexpr Index kMostNumbered = 5;  // columns whose cells have room for their number
constexpr Index kMostNamed = 12;    // heads that the axes have room to name

constexpr std::array<std::string_view, 3> kWays{"Q", "K", "V"};
constexpr std::array<std::string_view, 3> kTitles{"Q: by its queries", "K: by its keys", "V: by its values"};

/// Heads on an axis, from `first` on: named each, or by layer where there are many.
std::string tics(const ModelConfig& model, Index first_layer, Index layers) {
  std::string text;
  const Index step = layers * model.heads <= kMostNamed ? 1 : model.heads;
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
  const auto number = [&](Index row, const char* name) {
    return static_cast<Index>(table.number(row, name));
  };
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

void show_scale(Figure& figure, double baseline, double reach) {
  GnuplotScript& script = figure.script;
  const int left = kLeft + 3 * kMap + 2 * kGap + 22;
  script.line(
      "set palette defined (0 '#b35806', 0.25 '#f1a340', 0.5 '#ffffff', 0.75 '#6baed6', 1 '#08519c')\n"
      "set cbrange [{}:{}]",
      baseline - reach, baseline + reach);
  script.line("set colorbox user origin screen {}, screen {} size screen {}, screen {}",
              1.0 * left / figure.width, 1 - 1.0 * (kTop + kMap) / figure.height, 14.0 / figure.width,
              1.0 * kMap / figure.height);
  script.line("set cbtics scale 0 font ',12' format '%.2f'");
  script.line(
      "set label 1004 'composition score' at screen {}, screen {} center rotate by 90 textcolor rgb '{}'",
      (left + 68.0) / figure.width, 1 - (kTop + 0.5 * kMap) / figure.height, kInk);
}

void explain(Figure& figure, const CsvTable& table, double baseline) {
  const std::string first = fmt::format(
      "|W_A W_B| / (|W_A| |W_B|) with Frobenius norms: W_A the earlier head's OV, W_B the later one's QK "
      "(Q), "
      "its transpose (K), or OV (V)");
  const std::string second = fmt::format(
      "white: random matrices of these shapes score {:.3f} ± {:.3f}; blue: more, orange: less; grey: no such "
      "pair; step {}",
      baseline, table.number(0, "baseline_spread"), table.cell(0, "step"));
  int height = 38;
  for (const std::string& line : {first, second}) {
    figure.script.line("set label {} {} at screen {}, screen {} left font ',12' textcolor rgb '{}'",
                       1100 + height, gnuplot_text(line), 20.0 / figure.width, 1.0 * height / figure.height,
                       kGrey);
    height -= 19;
  }
}

}  // namespace

Figure composition_figure(const CsvTable& composition, const Config& config) {
  const double baseline = composition.number(0, "baseline");
  double reach = std::max(4 * composition.number(0, "baseline_spread"), 0.01);
  for (const double score : composition.numbers("score"))
    if (std::isfinite(score)) reach = std::max(reach, std::abs(score - baseline));
  const ModelConfig& model = config.model;
  const Index layers = model.layers - 1;
  const auto size = static_cast<double>(layers * model.heads);

  Figure figure =
      start_figure("composition", kLeft + 3 * kMap + 2 * kGap + kScaleWidth, kTop + kMap + kBottom,
                   "Which later head reads what which earlier head writes", run_in_words(config));
  GnuplotScript& script = figure.script;
  script.line("unset grid\nset border 15 linecolor rgb '{}' linewidth 0.6", kGrey);
  script.line("set xrange [-0.5:{0}]\nset yrange [{0}:-0.5]", size - 0.5);
  script.line(
      "set object 2 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#ececec' fillstyle solid 1 "
      "noborder");
  script.line("set xtics ({}) scale 0 font ',12' offset 0,0.3", tics(model, 1, layers));
  show_scale(figure, baseline, reach);
  explain(figure, composition, baseline);
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    const int left = kLeft + static_cast<int>(way) * (kMap + kGap);
    const Panel panel{left, left + kMap, kTop, kTop + kMap};
    place(figure, panel, way == 0 ? "earlier head (layer.head)" : "");
    label_x_axis(figure, panel, "later head");
    if (way == 0)
      script.line("set ytics ({}) scale 0 font ',12'", tics(model, 0, layers));
    else
      script.line("unset ytics");
    script.line("set label 26 '{{/:Bold {}}}' at graph 0.5, graph 1 center offset 0,0.8 textcolor rgb '{}'",
                kTitles[way], kInk);
    const std::string block = fmt::format("${}", kWays[way]);
    const std::vector<std::vector<double>> cells = cells_of(composition, kWays[way], model.heads, layers);
    script.data(block, cells);
    const std::string numbers = layers * model.heads <= kMostNumbered
                                    ? fmt::format(
                                          ", {} using 1:2:($3 < 0 ? '' : sprintf('%.2f', $3)):(abs($3 - {}) "
                                          "> {} ? 0xffffff : 0x222222) with "
                                          "labels center font ',13' textcolor rgb variable",
                                          block, baseline, 0.6 * reach)
                                    : "";
    const auto& scores = cells.back();
    // gnuplot refuses an image without a number.
    if (std::any_of(scores.begin(), scores.end(), [](double score) { return score >= 0; }))
      script.line("plot {} using 1:2:($3 < 0 ? NaN : $3) with image pixels{}", block, numbers);
    else
      script.line("plot NaN");
    script.line("unset label\nunset colorbox");
  }
  return figure;
}

}  // namespace tapehead
