#include "tapehead/report/formation_window.h"

#include "report/drawing.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

std::string svg_with(const Formation& formation) {
  Figure figure{"window", 500, 300, {}};
  const Panel panel{60, 480, 80, 250};
  place(figure, panel, "y");
  shade_formation(figure, formation);
  name_formation(figure, panel, formation);
  plot(figure, fmt::format("[0:{}] [0:1] 0.5 with lines", formation.last_step));
  return svg_of(figure);
}

/// How the colour of the shade is written in an SVG.
const std::string kShadeInSvg = "rgb(244, 239, 226)";

}  // namespace

TEST_CASE("the steps in which the heads form are shaded and named") {
  const std::string svg = svg_with({.last_step = 200, .onset = 40, .half = 60, .done = 90});
  CHECK(contains(svg, "accuracy 10 % to 90 %: steps 40 to 90"));
  CHECK(contains(svg, kShadeInSvg));
}

TEST_CASE("what has not formed says so, and is shaded only from an onset on") {
  const std::string open = svg_with({.last_step = 200, .onset = 40});
  CHECK(contains(open, "above 10 % from step 40, not above 90 % by step 200"));
  CHECK(contains(open, kShadeInSvg));
  const std::string none = svg_with({.last_step = 200});
  CHECK(contains(none, "not above 10 % by step 200"));
  CHECK_FALSE(contains(none, kShadeInSvg));
}

TEST_CASE(
    "the words for a formation break where the figure is narrow, and there are none where nothing is known") {
  const Formation open{.last_step = 200, .onset = 40};
  CHECK(formation_lines(open, 880).size() == 1);
  CHECK(formation_lines(open, 440).size() == 2);
  CHECK(formation_in_words({}).empty());
  CHECK(formation_lines({}, 440).empty());
}
