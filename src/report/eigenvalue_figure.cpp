#include "tapehead/report/eigenvalue_figure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "tapehead/report/head_grid.h"
#include "tapehead/report/lettering.h"

namespace tapehead {

namespace {

// Pixels.
constexpr HeadGridSpacing kRoomy{40, 24, 30, 22, 150, 330};
constexpr HeadGridSpacing kTight{kEdge, 12, 40, 6, 88, 150};
constexpr int kTitleGap = 8;
constexpr int kUnder = 12;  // the last row, beside its numbers

/// One head's eigenvalues, in the order of the table.
struct Values {
  std::vector<double> re;
  std::vector<double> im;
};

using Heads = std::map<std::pair<Index, Index>, Values>;

Heads heads_of(const CsvTable& table) {
  Heads heads;
  for (Index row = 0; row < table.rows(); ++row) {
    if (table.cell(row, "circuit") != "OV_tokens") continue;
    Values& values = heads[{table.whole_number(row, "layer"), table.whole_number(row, "head")}];
    values.re.push_back(table.number(row, "re"));
    values.im.push_back(table.number(row, "im"));
  }
  return heads;
}

/// Σ Re λ / Σ |λ|, in words.
std::string share_of(const Values& values) {
  double real = 0;
  double size = 0;
  for (std::size_t i = 0; i < values.re.size(); ++i) {
    real += values.re[i];
    size += std::hypot(values.re[i], values.im[i]);
  }
  return size > 0 ? with_sign(real / size) : "all are 0";
}

/// The same over the largest absolute value.
void scale(Values& values) {
  double largest = 0;
  for (std::size_t i = 0; i < values.re.size(); ++i)
    largest = std::max(largest, std::hypot(values.re[i], values.im[i]));
  if (largest == 0) return;
  for (std::vector<double>* part : {&values.re, &values.im})
    for (double& value : *part) value /= largest;
}

void start_planes(Figure& figure, bool roomy) {
  GnuplotScript& script = figure.script;
  script.line("set border 0\nunset grid\nset xrange [-1.12:1.12]\nset yrange [-1.12:1.12]");
  script.line("set zeroaxis linetype 1 linewidth 0.8 linecolor rgb '{}'", kPaleGrey);
  if (roomy)
    script.line("set xtics ('−1' -1, '0' 0, '1' 1) scale 0 font ',{}'", kSmallText);
  else
    script.line("unset xtics");
  script.line(
      "set object 2 circle at first 0,0 size first 1 behind fillstyle empty border rgb '{}' linewidth 0.9",
      kPaleGrey);
}

std::vector<ColouredWords> remarks_of(const CsvTable& table) {
  return {
      {"eigenvalues of W_E W_V W_O W_U, each head's over its largest absolute value; horizontal: real "
       "part, vertical: imaginary part"},
      {fmt::format("numbers: sum of real parts over sum of absolute values; +1: copies every direction, 0: "
                   "chance, −1: turns every direction round; step {}",
                   table.cell(0, "step"))}};
}

/// Which head, and its share, in one line or in two.
void title_plane(Figure& figure, const Panel& panel, const std::string& name, const std::string& share,
                 std::string_view colour) {
  const double middle = (panel.left + panel.right) / 2.0;
  const double name_width = text_width(name, kText, true);
  const double width = name_width + kTitleGap + text_width(share, kText);
  if (width <= panel.width()) {
    write(figure, name, middle - width / 2, panel.top - 10, {.colour = colour, .is_bold = true});
    write(figure, share, middle - width / 2 + name_width + kTitleGap, panel.top - 10, {.colour = colour});
    return;
  }
  write(figure, name, middle, panel.top - 25,
        {.colour = colour, .size = kSmallText, .is_bold = true, .align = "center"});
  write(figure, share, middle, panel.top - 9, {.colour = colour, .size = kSmallText, .align = "center"});
}

void draw_plane(Figure& figure, const Panel& panel, Index layer, Index head, Index heads, Values values,
                bool roomy) {
  const std::string_view colour = head_colour(layer, head, heads);
  place(figure, panel, "");
  title_plane(figure, panel, fmt::format("layer {} head {}", layer, head), share_of(values), colour);
  scale(values);
  const std::string block = fmt::format("$plane_{}_{}", layer, head);
  figure.script.data(block, {values.re, values.im});
  plot(figure, fmt::format("{} using 1:2 with points pointtype 7 pointsize {} linecolor rgb '{}'", block,
                           roomy ? 0.55 : 0.3, colour));
}

}  // namespace

Figure eigenvalue_figure(const CsvTable& eigenvalues, const Config& config, const FigureSize& size) {
  HeadGrid grid(config.model, size.width, kRoomy);
  const bool roomy = grid.rows_a_layer() == 1;
  if (!roomy) grid = HeadGrid(config.model, size.width, kTight);
  Sheet sheet = start_sheet("eigenvalues", size,
                            {.title = "Does what a head moves stay the same token?",
                             .subtitle = run_in_words(config),
                             .remarks = remarks_of(eigenvalues)},
                            grid.heights(kUnder));
  grid.fit(sheet);
  start_planes(sheet.figure, roomy);
  for (const auto& [place, values] : heads_of(eigenvalues)) {
    const auto [layer, head] = place;
    if (roomy && head == 0)
      sheet.figure.script.line("set ytics ('−1' -1, '0' 0, '1' 1) scale 0 font ',{}' textcolor rgb '{}'",
                               kSmallText, kInk);
    else
      sheet.figure.script.line("unset ytics");
    draw_plane(sheet.figure, grid.panel(layer, head), layer, head, config.model.heads, values, roomy);
  }
  return std::move(sheet.figure);
}

}  // namespace tapehead
