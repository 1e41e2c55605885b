#include "tapehead/report/attribution_figure.h"

#include <cmath>

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/interp/attribution.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Component component(std::string name, Index layer, Index head, double induction, double noise) {
  return {std::move(name), layer, head, {{{9, 9}, {9, induction}, {9, noise}}}};
}

}  // namespace

TEST_CASE("the attribution figure has both kinds of position for every component, and their sum") {
  Attribution attribution;
  attribution.components = {component("token_embedding", kNoLayer, kAllHeads, 0.001, -0.51),
                            component("head", 1, 0, 3.46, 0.06),
                            component("attention_bias", 1, kAllHeads, -1.25, 0.04)};
  attribution.logits = {{{9, 9}, {9, 2.22}, {9, -0.42}}};
  const std::string svg = svg_of(attribution_figure(attribution_table(attribution, 2000, 256), Config{}));
  for (const std::string text :
       {"What each part adds to the right token", "on induction positions", "on noise positions", "token",
        "embedding", "layer 1", "head 0", "attention", "bias", "of all", "+3.46", "+0.06", "−1.25", "−0.51",
        "0.00", "+2.22", "−0.42", "step 2000, 256 sequences"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  CHECK_FALSE(contains(svg, "+0.00"));
}

TEST_CASE("the attribution figure can be drawn of many components, and without a kind of position") {
  Attribution attribution;
  for (Index layer = 0; layer < 6; ++layer)
    for (Index head = 0; head < 8; ++head)
      attribution.components.push_back(component("head", layer, head, std::nan(""), 0.1));
  attribution.logits = {{{1, 1}, {1, std::nan("")}, {1, 4.8}}};
  const std::string svg = svg_of(attribution_figure(attribution_table(attribution, 0, 8), Config{}));
  CHECK(contains(svg, "layer 5"));
  CHECK(contains(svg, "+4.80"));
}
