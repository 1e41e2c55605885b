#include "tapehead/report/eigenvalue_figure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "tapehead/report/style.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr int kTop = 66;
constexpr int kLeft = 76;
constexpr int kRight = 24;
constexpr int kGap = 30;
constexpr int kTitle = 46;  // over each plane
constexpr int kUnder = 22;  // under each plane
constexpr int kBottom = 70;
constexpr int kPlanesWidth = 720;
constexpr int kLargest = 330;
constexpr int kSmallest = 84;
constexpr int kRoomy = 150;  // wide enough for its title in one line

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
    Values& values = heads[{static_cast<Index>(table.number(row, "layer")),
                            static_cast<Index>(table.number(row, "head"))}];
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
  return size > 0 ? fmt::format("{}{:.2f}", real < 0 ? "−" : "+", std::abs(real) / size) : "all are 0";
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
    script.line("set xtics ('−1' -1, '0' 0, '1' 1) scale 0 font ',12'");
  else
    script.line("unset xtics");
  script.line(
      "set object 2 circle at first 0,0 size first 1 behind fillstyle empty border rgb '{}' linewidth 0.9",
      kPaleGrey);
}

void explain(Figure& figure, const CsvTable& table) {
  const std::string first =
      "eigenvalues of W_E W_V W_O W_U, each head's over its largest absolute value; horizontal: real part, "
      "vertical: imaginary part";
  const std::string second = fmt::format(
      "numbers: sum of real parts over sum of absolute values; +1: copies every direction, 0: chance, −1: "
      "turns every direction round; step {}",
      table.cell(0, "step"));
  int height = 38;
  for (const std::string& line : {first, second}) {
    figure.script.line("set label {} {} at screen {}, screen {} left font ',12' textcolor rgb '{}'",
                       1100 + height, gnuplot_text(line), 20.0 / figure.width, 1.0 * height / figure.height,
                       kGrey);
    height -= 19;
  }
}

}  // namespace

Figure eigenvalue_figure(const CsvTable& eigenvalues, const Config& config) {
  const auto columns = static_cast<int>(config.model.heads);
  const auto rows = static_cast<int>(config.model.layers);
  const int plane = std::clamp((kPlanesWidth - (columns - 1) * kGap) / columns, kSmallest, kLargest);
  const bool roomy = plane > kRoomy;
  Figure figure = start_figure("eigenvalues", std::max(kLeft + columns * (plane + kGap) - kGap + kRight, 840),
                               kTop + rows * (kTitle + plane + kUnder) + kBottom,
                               "Does what a head moves stay the same token?", run_in_words(config));
  start_planes(figure, roomy);
  explain(figure, eigenvalues);
  for (auto& [head, values] : heads_of(eigenvalues)) {
    const int left = kLeft + static_cast<int>(head.second) * (plane + kGap);
    const int top = kTop + static_cast<int>(head.first) * (kTitle + plane + kUnder) + kTitle;
    place(figure, {left, left + plane, top, top + plane}, "");
    if (roomy && head.second == 0)
      figure.script.line("set ytics ('−1' -1, '0' 0, '1' 1) scale 0 font ',12' textcolor rgb '{}'", kInk);
    else
      figure.script.line("unset ytics");
    const std::string_view colour = head_colour(head.first, head.second, config.model.heads);
    figure.script.line(
        "set label 26 '{{/:Bold layer {} head {}}}{}{}' at graph 0.5, graph 1 center offset 0,{} font ',13' "
        "textcolor rgb '{}'",
        head.first, head.second, roomy ? "  " : "\\n", share_of(values), roomy ? 0.6 : 1.3, colour);
    Values scaled = values;
    scale(scaled);
    const std::string block = fmt::format("$plane_{}_{}", head.first, head.second);
    figure.script.data(block, {scaled.re, scaled.im});
    figure.script.line("plot {} using 1:2 with points pointtype 7 pointsize {} linecolor rgb '{}'", block,
                       roomy ? 0.55 : 0.3, colour);
    figure.script.line("unset label");
  }
  return figure;
}

}  // namespace tapehead
