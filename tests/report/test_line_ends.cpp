#include "tapehead/report/line_ends.h"

#include <cmath>

#include "report/drawing.h"
#include "report/svg_words.h"
#include "support/testing.h"
#include "tapehead/report/lettering.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("labels that have room stay where they are wanted, others share what they miss") {
  CHECK(spread({}, 10).empty());
  CHECK(spread({0, 30, 60}, 10) == std::vector<double>{0, 30, 60});
  CHECK(spread({20, 24}, 10) == std::vector<double>{17, 27});
  CHECK(spread({50, 50, 50}, 10) == std::vector<double>{40, 50, 60});
  // Pushed apart, the first two meet the third.
  CHECK(spread({10, 14, 20}, 10).front() == doctest::Approx(14.0 / 3));
  CHECK(spread({10, 14, 20}, 10).back() == doctest::Approx(74.0 / 3));
}

TEST_CASE("plots end where their widest label has room, and labels stand beside the ends of their lines") {
  const std::vector<EndLabel> labels{
      {0.5, "the_line", kInk}, {0.5, "another, longer", kGrey}, {0, "low", kInk}};
  const int right = right_of_plots(500, labels);
  CHECK(right == doctest::Approx(500 - kEdge - 8 - text_width("another, longer", kText)).epsilon(0.01));
  CHECK(right_of_plots(500, {{0.5, "another, longer", kGrey, true}}) > right);
  Figure figure{"ends", 500, 300, {}};
  const Panel panel{60, right, 50, 250};
  place(figure, panel, "");
  label_line_ends(figure, panel, 0, 1, labels);
  plot(figure, "[0:1] [0:1] NaN notitle");
  const std::string svg = svg_of(figure);
  CHECK(faults_of_words(svg, 500, 300) == "");
  for (const Words& words : words_in(svg)) {
    if (words.text == "low") CHECK(words.bottom < 250);
    if (words.text == "the_line" || words.text == "another, longer") {
      CHECK(words.left > right);
      CHECK(std::abs((words.top + words.bottom) / 2 - 150) < kLine);
    }
  }
}
