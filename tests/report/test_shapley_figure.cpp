#include "tapehead/report/shapley_figure.h"

#include <cstdio>
#include <limits>

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/interp/subsets.h"
#include "tapehead/report/bars.h"
#include "tapehead/report/lettering.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// A layer whose heads have these shares of `whole`, and half of that alone; neighbours interact by so much.
LayerSubsets layer_of(Index number, const std::vector<double>& shares, double whole, double interaction) {
  LayerSubsets layer{.layer = number};
  layer.subsets.resize(2);
  layer.subsets.back().change_induction = {whole, whole - 0.1, whole + 0.1};
  for (std::size_t head = 0; head < shares.size(); ++head) {
    const double value = whole * shares[head];
    layer.heads.push_back({.head = static_cast<Index>(head),
                           .shapley = {value, value - 0.1, value + 0.1},
                           .alone = {value / 2, value / 2 - 0.1, value / 2 + 0.1},
                           .share = shares[head]});
    if (head > 0)
      layer.pairs.push_back({static_cast<Index>(head) - 1,
                             static_cast<Index>(head),
                             {interaction, interaction - 0.5, interaction + 0.5}});
  }
  return layer;
}

std::string svg_of_layers(const std::vector<LayerSubsets>& layers) {
  return svg_of(
      shapley_figure(shapley_table(layers, 2000, 256), interactions_table(layers, 2000, 256), Config{}));
}

}  // namespace

TEST_CASE(
    "the Shapley figure has every head's value beside what it costs alone, its share, the layer and its "
    "pairs") {
  const std::string svg = svg_of_layers(
      {layer_of(0, {0.75, 0.25}, 4, -0.75), layer_of(1, {0.5, 0.5}, 3, 2.25), layer_of(2, {1, 0}, -1, 0.25)});
  for (const std::string text :
       {"Who does the work of a layer's heads", "Shapley value", "ablated alone", "whole layer",
        "zero ablation", "step 2000, 256 sequences", "layer 0: all heads together +4.00", "+3.00", "+1.50",
        "75 %", "25 %", "layer 2: all heads together −1.00", "heads 0 and 1: −0.75, they need",
        "heads 0 and 1: +2.25, they stand in", "no pair interacts, beyond its interval"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
}

TEST_CASE("the Shapley figure can be drawn with one head, with many, and without induction positions") {
  CHECK(contains(svg_of_layers({layer_of(0, {1}, 2, 0)}), "100 %"));
  const std::string many = svg_of_layers({layer_of(0, std::vector<double>(12, 1.0 / 12), 2, 1)});
  CHECK(contains(many, "head 11"));
  CHECK(contains(many, "8 weaker pairs"));
  constexpr double missing = std::numeric_limits<double>::quiet_NaN();
  const std::string none = svg_of_layers({layer_of(0, {missing, missing}, missing, missing)});
  CHECK(contains(none, "layer 0"));
  CHECK_FALSE(contains(none, "nan"));
}

TEST_CASE("of several kinds the first is drawn") {
  LayerSubsets other = layer_of(0, {0.5, 0.5}, 9, 1);
  other.kind = AblationKind::mean;
  const std::string svg = svg_of_layers({layer_of(0, {0.75, 0.25}, 4, 1), other});
  CHECK(contains(svg, "+3.00"));
  CHECK_FALSE(contains(svg, "+9.00"));
}

TEST_CASE("all layers of the Shapley figure have one range, with every bar and every whole layer") {
  const std::vector<LayerSubsets> layers{layer_of(0, {0.75, 0.25}, 4, 0), layer_of(1, {0.5, 0.5}, -3, 0)};
  const std::string script =
      shapley_figure(shapley_table(layers, 2000, 256), interactions_table(layers, 2000, 256), Config{})
          .script.text();
  // Bars from -1.6, and lines from -3, to 4.
  const std::string first = script.substr(script.find("set yrange"));
  const std::string range = first.substr(0, first.find('\n') + 1);
  CHECK(count(script, range) == 2);
  CHECK(count(script, "set yrange") == 2);
  double low = 0;
  double high = 0;
  REQUIRE(std::sscanf(range.c_str(), "set yrange [%lf:%lf]", &low, &high) == 2);
  CHECK(low < -3);
  CHECK(low > -4);
  CHECK(high > 4);
  CHECK(high < 5);
}

TEST_CASE("the line of a whole layer is open only around the heights that it would go through") {
  // The first bar's height is written where the line of 4 is; the others are far below.
  const std::vector<LayerSubsets> layers{layer_of(0, {0.9, 0.05, 0.05}, 4, 0)};
  const std::string script =
      shapley_figure(shapley_table(layers, 2000, 256), interactions_table(layers, 2000, 256), Config{})
          .script.text();
  const double half = (text_width("+3.60", kSmallText) / 2 + 5) / group_width(880 - kPlotLeft - kEdge, 3);
  CHECK(contains(script, fmt::format("set arrow from {}, 4 to {}, 4 ", -kGroupEnds, -0.2 - half)));
  CHECK(contains(script, fmt::format("set arrow from {}, 4 to {}, 4 ", -0.2 + half, 2 + kGroupEnds)));
  CHECK(count(script, "\nset arrow") == 2);
}
