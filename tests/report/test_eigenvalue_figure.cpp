#include "tapehead/report/eigenvalue_figure.h"

#include "report/drawing.h"
#include "support/models.h"
#include "tapehead/interp/circuit_tables.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("the eigenvalue figure has a plane a head, with the share that copies") {
  Circuits circuits;
  circuits.heads = {{.layer = 0, .head = 0, .ov = {{1, 0}}, .ov_tokens = {{-2, 0}, {1, 0}}},
                    {.layer = 0, .head = 1, .ov_tokens = {{0, 0}}},
                    {.layer = 1, .head = 0, .ov_tokens = {{3, 4}, {3, -4}}},
                    {.layer = 1, .head = 1, .ov_tokens = {{5, 0}}}};
  const std::string svg = svg_of(eigenvalue_figure(eigenvalue_table(circuits, 2000, 8), Config{}));
  for (const std::string text : {"layer 0 head 0", "−0.33", "layer 0 head 1", "all are 0", "layer 1 head 0",
                                 "+0.60", "layer 1 head 1", "+1.00", "W_E W_V W_O W_U", "step 2000"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
}

TEST_CASE("the eigenvalue figure can be drawn of many heads") {
  Config config;
  config.model = {.vocabulary = 9, .context = 4, .width = 24, .heads = 12, .layers = 3};
  const Circuits circuits = circuits_of(random_model(config.model));
  CHECK(contains(svg_of(eigenvalue_figure(eigenvalue_table(circuits, 0, 8), config)), "layer 2 head 11"));
}
