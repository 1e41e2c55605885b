#include "tapehead/report/patching_figure.h"

#include <cmath>

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/interp/patching.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

PatchingPairs pairs_of(Index length) {
  PatchingPairs pairs;
  pairs.clean = noise_batch(64, length);
  pairs.query = length - 1;
  pairs.copies = {length / 2 - 1};
  return pairs;
}

Patch patch_of(const Site& site, Index position, double effect) {
  return {.site = site, .position = position, .effect = {effect, effect - 0.1, effect + 0.1}};
}

Patching by_position(Index length, Index layers = 2) {
  Patching patching{.grid = {.site = SiteKind::residual_before, .by = PatchBy::position}};
  for (Index layer = 0; layer < layers; ++layer)
    for (Index t = 0; t < length; ++t)
      patching.patches.push_back(patch_of(residual_before(layer), t, t == 3 ? 0.5 : 0));
  for (Index t = 0; t < length; ++t) patching.patches.push_back(patch_of(final_residual(), t, 0));
  return patching;
}

}  // namespace

TEST_CASE("the patching figure has a map a grid, with numbers where cells have room and marks at positions") {
  Patching heads{.grid = {}, .clean = -0.25, .corrupted = -3.5};
  heads.patches = {
      patch_of(head_output(0, 0), kAllPositions, 0.875), patch_of(head_output(0, 1), kAllPositions, -0.25),
      patch_of(head_output(1, 0), kAllPositions, 0.001), patch_of(head_output(1, 1), kAllPositions, 1.5)};
  Patching sent{.grid = {.to = {"1.0.keys", {keys(1, 0)}}}};
  sent.patches = {patch_of(head_output(0, 0), kAllPositions, 0.625)};
  const CsvTable table = patching_table({heads, by_position(48), sent}, pairs_of(48), 2000);
  const std::string svg = svg_of(patching_figure(table, Config{}));
  for (const std::string text :
       {"What of a clean run restores a corrupted one's answer", "head output by head",
        "residual by position", "head output by head, to 1.0.keys alone", "layer 0", "head 1", "final",
        "+0.88", "−0.25", "+1.50", "+0.62", ">C<", ">A<", ">Q<", "clean (−0.25 nats) to corrupted (−3.50)",
        "step 2000, 64 sequences of one structure, period 24"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  CHECK_FALSE(contains(svg, "+0.50"));  // a cell of one position among 48
}

TEST_CASE("the patching figure can be drawn with one cell, with many, and with effects that are missing") {
  Patching one{.grid = {.by = PatchBy::layer}};
  one.patches = {patch_of(head_output(0), kAllPositions, 0.75)};
  CHECK(contains(svg_of(patching_figure(patching_table({one}, pairs_of(8), 0), Config{})), "+0.75"));
  one.patches.front().effect = {std::nan(""), std::nan(""), std::nan("")};
  CHECK(contains(svg_of(patching_figure(patching_table({one}, pairs_of(8), 0), Config{})), "all heads"));
  const CsvTable many = patching_table({by_position(1000, 12)}, pairs_of(1000), 0);
  CHECK(contains(svg_of(patching_figure(many, Config{})), "layer 11"));
}
