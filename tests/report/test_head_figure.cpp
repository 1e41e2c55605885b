#include "tapehead/report/head_figure.h"

#include <limits>

#include "report/drawing.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

CsvTable scores_of(Index layers, Index heads) {
  CsvTable table({"step", "layer", "head", "previous_token", "current_token", "first_token",
                  "duplicate_token", "induction", "prefix_matching"});
  for (int step = 0; step <= 100; step += 50)
    for (Index layer = 0; layer < layers; ++layer)
      for (Index head = 0; head < heads; ++head)
        table.add({std::to_string(step), std::to_string(layer), std::to_string(head),
                   fmt::format("{}", step * (layer == 0 && head == 0 ? 0.009 : 0.001)), "0.1", "0.1", "0.1",
                   fmt::format("{}", step * (layer == 1 ? 0.008 : 0.0005)), "0.2"});
  return table;
}

Config config_of(Index layers, Index heads) {
  Config config;
  config.model.layers = layers;
  config.model.heads = heads;
  return config;
}

constexpr ScoreValues kChance{0.07, 0.1, 0.1, 0.1, 0.06, 0.1, -0.97};

}  // namespace

TEST_CASE("the head figure has a panel a score with its definition, and every head with its last score") {
  const Formation formation{.last_step = 100, .onset = 20, .half = 50, .done = 80};
  const std::string svg = svg_of(head_figure(scores_of(2, 2), kChance, formation, config_of(2, 2)));
  for (const std::string text :
       {"What every head looks at, over training", "previous token",
        "mean weight on position q − 1, over queries q ≥ 1", "induction",
        "mean weight on the positions after earlier copies", "layer 0 head 0: 0.90", "layer 0 head 1: 0.10",
        "layer 1 head 1: 0.80", "layer 0 head 1: 0.05", "even attention: 0.07", "even attention: 0.06",
        "accuracy 10 % to 90 %: steps 20 to 80", "attention weight", "training step"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
}

TEST_CASE("of many heads the head figure labels those that end highest") {
  const std::string svg = svg_of(head_figure(scores_of(4, 8), kChance, {.last_step = 100}, config_of(4, 8)));
  CHECK(contains(svg, "layer 0 head 0: 0.90"));
  CHECK(contains(svg, "layer 1 head 7: 0.80"));
  CHECK_FALSE(contains(svg, "layer 3 head 7"));
  CHECK(contains(svg, "22 more below"));
  // With as many as there is room for, no head is left out.
  CHECK_FALSE(contains(svg_of(head_figure(scores_of(1, 11), kChance, {.last_step = 100}, config_of(1, 11))),
                       "more below"));
}

TEST_CASE("the head figure can be drawn from one evaluation, and without induction queries") {
  CsvTable table = scores_of(1, 1);
  table.drop_above("step", 0);
  ScoreValues chance = kChance;
  chance[static_cast<std::size_t>(Score::induction)] = std::numeric_limits<double>::quiet_NaN();
  const Figure figure = head_figure(table, chance, {}, config_of(1, 1));
  const std::string svg = svg_of(figure);
  CHECK(contains(svg, "layer 0 head 0: 0.00"));
  CHECK(dots(svg) == 2);
  CHECK(contains(figure.script.text(), "set xrange [-1:1]\nset xtics (0)\n"));
}

TEST_CASE("the head figure has panels for copying and K-composition where the table has them") {
  CHECK_FALSE(contains(svg_of(head_figure(scores_of(2, 2), kChance, {}, config_of(2, 2))), "copying"));
  CsvTable table({"step", "layer", "head", "previous_token", "induction", "copying", "k_composition"});
  for (const char* step : {"0", "100"})
    for (const char* layer : {"0", "1"})
      table.add({step, layer, "0", "0.1", "0.2", layer == std::string("1") ? "0.75" : "-0.5",
                 layer == std::string("1") ? "0.41" : ""});
  const std::string svg = svg_of(head_figure(table, kChance, {.last_step = 100}, config_of(2, 1)));
  for (const std::string text :
       {"copying", "share of what the head adds", "layer 1 head 0: 0.75", "all tokens alike: −0.97",
        "k composition", "layer 1 head 0: 0.41", "random matrices: 0.1", "training step"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  // One layer has nothing to compose with.
  CsvTable single({"step", "layer", "head", "previous_token", "induction", "copying", "k_composition"});
  single.add({"0", "0", "0", "0.1", "0.2", "-0.5", ""});
  CHECK_FALSE(contains(svg_of(head_figure(single, kChance, {}, config_of(1, 1))), "k composition"));
}
