#include "tapehead/report/ablation_figure.h"

#include <cmath>

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/interp/ablation.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Ablation ablation(Index layer, Index head, double induction, double noise, double accuracy) {
  Ablation result;
  result.removal = {AblationKind::zero, {head_output(layer, head)}};
  result.change_induction = {induction, induction - 0.1, induction + 0.1};
  result.change_noise = {noise, noise - 0.02, noise + 0.02};
  result.accuracy_induction = {accuracy, accuracy, accuracy};
  return result;
}

}  // namespace

TEST_CASE("the ablation figure has both changes of every ablation and the accuracy that is left") {
  const CsvTable table =
      ablation_table({ablation(0, 0, 3.18, 0.11, 0.153), ablation(0, 1, 0.89, -0.08, 0.893),
                      ablation(0, kAllHeads, 3.58, -0.09, 0.106)},
                     2000, 256);
  const std::string svg = svg_of(ablation_figure(table, 0.94, Config{}));
  for (const std::string text : {"What is lost when a head's output is zeroed", "change in loss (nats)",
                                 "on induction positions", "on noise positions", "95 % intervals", "layer 0",
                                 "head 0", "head 1", "all heads", "+3.18", "+0.11", "+0.89", "−0.08", "+3.58",
                                 "15 %", "89 %", "11 %", "94 % with every head); step 2000, 256 sequences"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
}

TEST_CASE("the ablation figure can be drawn with one row, with many, and without what is not known") {
  CsvTable least({"kind", "layer", "head", "change_induction", "low", "high", "accuracy_induction"});
  least.add({"zero", "1", "0", "0.5", "", "", "0.5"});
  const std::string svg = svg_of(ablation_figure(least, std::nan(""), Config{}));
  CHECK(contains(svg, "+0.50"));
  CHECK_FALSE(contains(svg, "with every head"));

  std::vector<Ablation> many;
  for (Index layer = 0; layer < 4; ++layer)
    for (Index head = 0; head < 8; ++head) many.push_back(ablation(layer, head, 0.01, 0, 0.9));
  CHECK(contains(svg_of(ablation_figure(ablation_table(many, 2000, 256), 0.9, Config{})), "layer 3"));
}

TEST_CASE("the ablation figure of one kind names it, and feed-forward parts") {
  Ablation by_mean = ablation(0, 0, 1, 0, 0.5);
  by_mean.removal = {AblationKind::mean, {feed_forward_output(0)}};
  const std::string svg = svg_of(ablation_figure(ablation_table({by_mean}, 2000, 256), 0.9, Config{}));
  CHECK(contains(svg, "What is lost without a head's output, by mean ablation"));
  CHECK(contains(svg, "feed-forward"));
}
