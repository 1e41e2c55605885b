#include "tapehead/report/ablation_kinds_figure.h"

#include <cmath>
#include <limits>

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/interp/ablation.h"
#include "tapehead/report/ablation_figure.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Ablation ablation(AblationKind kind, const Site& component, double induction, double noise) {
  return {.removal = {kind, {component}},
          .change_induction = {induction, induction - 0.1, induction + 0.1},
          .change_noise = {noise, noise - 0.02, noise + 0.02}};
}

std::vector<Ablation> all_kinds(const std::vector<Site>& components) {
  std::vector<Ablation> ablations;
  for (const AblationDefinition& kind : kAblationKinds)
    for (const Site& component : components)
      ablations.push_back(ablation(kind.kind, component, 0.25 * static_cast<double>(component.head), 0));
  return ablations;
}

std::string svg_of_table(const std::vector<Ablation>& ablations) {
  return svg_of(ablation_figure(ablation_table(ablations, 2000, 256), 0.9, Config{}));
}

}  // namespace

TEST_CASE("a table of several kinds is drawn side by side, each kind named, and both kinds of position") {
  const std::string svg =
      svg_of_table(all_kinds({head_output(0, 1), head_output(0, 2), feed_forward_output(0)}));
  for (const std::string text :
       {"by kind of ablation", "zero", "mean", "resample", "pattern-preserving", "value-preserving",
        "layer 0", "head 1", "head 2", "feed-forward", "on induction (nats)", "on noise (nats)", "+0.50",
        "step 2000, 256 sequences"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  // Each stands in the legend alone where all kinds agree.
  CHECK(count(svg, "≠") == 1);
  CHECK(count(svg, "±") == 1);
}

TEST_CASE("marks stand where zero, mean and resample disagree in size or in sign, and nowhere else") {
  const Site head = head_output(0, 0);
  const std::string svg = svg_of_table({ablation(AblationKind::zero, head, 3.1, -0.5),
                                        ablation(AblationKind::mean, head, 3.2, -0.5),
                                        ablation(AblationKind::resample, head, 4.3, 0.7),
                                        ablation(AblationKind::pattern_preserving, head, -0.4, 0.9)});
  CHECK(contains(svg, "+4.30≠"));
  CHECK(contains(svg, "+0.70±"));
  CHECK(count(svg, "≠") == 2);
  CHECK(count(svg, "±") == 2);
}

TEST_CASE("kinds are drawn over many rows, and where a quantity is missing") {
  std::vector<Site> components;
  for (Index layer = 0; layer < 4; ++layer)
    for (Index head = 0; head < 8; ++head) components.push_back(head_output(layer, head));
  std::vector<Ablation> many = all_kinds(components);
  CHECK(contains(svg_of_table(many), "layer 3"));
  constexpr double missing = std::numeric_limits<double>::quiet_NaN();
  for (Ablation& one : many) one.change_induction = {missing, missing, missing};
  CHECK(contains(svg_of_table(many), "on noise (nats)"));
}

TEST_CASE("kinds of different components cannot stand side by side") {
  CHECK_THROWS_WITH_AS(svg_of_table({ablation(AblationKind::zero, head_output(0, 0), 1, 0),
                                     ablation(AblationKind::mean, head_output(0, 1), 1, 0)}),
                       doctest::Contains("the same components for every kind"), Error);
  CHECK_THROWS_AS(svg_of_table({ablation(AblationKind::zero, head_output(0, 0), 1, 0),
                                ablation(AblationKind::zero, head_output(0, 1), 1, 0),
                                ablation(AblationKind::mean, head_output(0, 0), 1, 0)}),
                  Error);
}
