#include "tapehead/report/context_figure.h"

#include <cmath>

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/interp/context_score.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

CsvTable table_of(const std::vector<Index>& steps, Index length, double slope = -0.2) {
  std::vector<ContextLosses> checkpoints;
  const std::size_t bands = position_bands(length).size();
  for (const Index step : steps)
    checkpoints.push_back({step, std::vector<double>(bands, 3.0), std::vector<double>(bands, slope),
                           Estimate{-0.25, -0.3, -0.2}, 3.5, 3.25});
  return context_table(checkpoints, length, context_options(length, {}, {}));
}

Config config_of(Index length) {
  Config config;
  config.task.length = length;
  return config;
}

/// How many cells the map has: each is a filled shape of the outermost or of another colour, without a
/// border.
int cells(const std::string& svg) { return count(svg, "<polygon fill"); }

}  // namespace

TEST_CASE("the context figure has the score, the map of slopes, and says where both are measured") {
  const std::string svg = svg_of(context_figure(table_of({0, 1, 10, 100}, 512), config_of(512)));
  for (const std::string text :
       {"How much the context helps as the model learns", "in-context-learning score", "−0.25",
        "slope: d loss / d ln(position)", "position", "training step", "positions 450 to 512", "at 45 to 55",
        "256 held-out sequences"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
}

TEST_CASE("the context figure has a cell for every checkpoint and band, that of step 0 too") {
  const Index length = 512;
  const auto bands = static_cast<int>(position_bands(length).size());
  const int few = cells(svg_of(context_figure(table_of({0, 8}, length), config_of(length))));
  const int more = cells(svg_of(context_figure(table_of({0, 8, 16, 32}, length), config_of(length))));
  CHECK(more - few == 2 * bands);
}

TEST_CASE("the context figure can be drawn of one checkpoint, of short sequences, and without any number") {
  CHECK(contains(svg_of(context_figure(table_of({0}, 48), config_of(48))), "training step"));
  CHECK(contains(svg_of(context_figure(table_of({7}, 48), config_of(48))), "training step"));
  CHECK(contains(svg_of(context_figure(table_of({0, 1, 2}, 2), config_of(2))), "at 1 of"));
  CHECK(contains(svg_of(context_figure(table_of({0, 5}, 48, std::nan("")), config_of(48))), "position"));
}

TEST_CASE("a table with steps or positions that cannot be is refused with its row, and not drawn") {
  const std::string columns =
      "step,first_position,last_position,loss,slope,score,score_low,score_high,early,late,spread,sequences\n";
  const std::string sound = "8,1,1,3,-0.2,-0.2,-0.3,-0.1,5,48,0.1,9\n";
  const auto draw = [&](const std::string& row) {
    return context_figure(CsvTable::parse(columns + sound + row, "context.csv"), config_of(48));
  };
  CHECK_NOTHROW(draw(sound));
  CHECK_THROWS_WITH_AS(context_figure(CsvTable::parse(columns, "context.csv"), config_of(48)),
                       doctest::Contains("expected at least one row"), Error);
  for (const char* row :
       {",1,1,3,-0.2,-0.2,-0.3,-0.1,5,48,0.1,9\n", "7,1,1,3,-0.2,-0.2,-0.3,-0.1,5,48,0.1,9\n",
        "9,0,1,3,-0.2,-0.2,-0.3,-0.1,5,48,0.1,9\n", "9,1,,3,-0.2,-0.2,-0.3,-0.1,5,48,0.1,9\n",
        "9,1,1,3,-0.2,-0.2,-0.3,-0.1,1e300,48,0.1,9\n", "9,1,1,3,-0.2,-0.2,-0.3,-0.1,5,49,0.1,9\n",
        "9,1,1,3,-0.2,-0.2,-0.3,-0.1,5,48,1,9\n"}) {
    CAPTURE(row);
    CHECK_THROWS_WITH_AS(draw(row), doctest::Contains("in row 2"), Error);
  }
  CHECK_THROWS_WITH_AS(draw("9,1,1,3,nan,-0.2,-0.3,-0.1,5,48,0.1,9\n"), doctest::Contains("slope"), Error);
}
