#include "tapehead/report/lens_figure.h"

#include "report/drawing.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

CsvTable table_of(Index rows, bool copies = true) {
  CsvTable table(
      {"layer", "loss", "loss_induction", "loss_noise", "accuracy_induction", "step", "sequences"});
  for (Index row = 0; row < rows; ++row)
    table.add(
        {std::to_string(row), "4.1", copies ? "3.25" : "", "4.4", copies ? "0.875" : "", "2000", "256"});
  return table;
}

}  // namespace

TEST_CASE("the lens figure has both losses, the accuracy, what guessing costs, and names its places") {
  const std::string svg = svg_of(lens_figure(table_of(3), Config{}));
  for (const std::string text : {"What could be read out after every layer", "embedding", "layer 0",
                                 "layer 1", "induction 3.25", "noise 4.40", "all positions 4.10",
                                 "induction 88 %", "guessing: ln 64 = 4.16", "step 2000, 256 sequences"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
}

TEST_CASE("the lens figure can be drawn of one place, of many, and where nothing can be copied") {
  CHECK(contains(svg_of(lens_figure(table_of(1), Config{})), "embedding"));
  const std::string many = svg_of(lens_figure(table_of(49), Config{}));
  CHECK(contains(many, "embedding"));
  CHECK_FALSE(contains(many, "layer 47"));
  const std::string noise = svg_of(lens_figure(table_of(3, false), Config{}));
  CHECK(contains(noise, "noise 4.40"));
  CHECK_FALSE(contains(noise, "induction "));
}
