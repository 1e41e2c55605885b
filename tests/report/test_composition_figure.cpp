#include "tapehead/report/composition_figure.h"

#include "report/drawing.h"
#include "support/models.h"
#include "tapehead/interp/circuit_tables.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("the composition figure has a map for queries, keys and values, with numbers and the baseline") {
  Circuits circuits;
  circuits.baseline = {0.125, 0.005};
  circuits.pairs = {{0, 0, 1, 0, {0.11, 0.31, 0.12}},
                    {0, 1, 1, 0, {0.13, 0.14, 0.15}},
                    {0, 0, 1, 1, {0.16, 0.17, 0.18}},
                    {0, 1, 1, 1, {0.19, 0.21, 0.22}}};
  const std::string svg = svg_of(composition_figure(composition_table(circuits, 2000, 8), Config{}));
  for (const std::string text :
       {"Which later head reads what which earlier head writes", "Q: by its queries", "K: by its keys",
        "V: by its values", "0.11", "0.31", "0.22", "earlier head (layer.head)", "later head", "0.0", "1.1",
        "random matrices of these shapes score 0.125 ± 0.005", "step 2000"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
}

TEST_CASE("the composition figure can be drawn of many heads, and of scores that are not there") {
  Config config;
  config.model = attention_only();
  config.model.layers = 8;
  const Circuits circuits = circuits_of(random_model(config.model));
  CHECK(contains(svg_of(composition_figure(composition_table(circuits, 0, 8), config)), "by its keys"));
  config.model.layers = 2;
  Circuits broken;
  broken.pairs = {{0, 0, 1, 0, {std::nan(""), std::nan(""), std::nan("")}}};
  CHECK(contains(svg_of(composition_figure(composition_table(broken, 0, 8), config)), "by its keys"));
}
