#include "tapehead/report/style.h"

#include <algorithm>
#include <set>

#include "report/drawing.h"
#include "report/svg_words.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("six heads have six colours, and the seventh another dash") {
  std::set<std::string_view> colours;
  for (Index layer = 0; layer < 2; ++layer)
    for (Index head = 0; head < 3; ++head) colours.insert(head_colour(layer, head, 3));
  CHECK(colours.size() == 6);
  CHECK(head_colour(2, 0, 3) == head_colour(0, 0, 3));
  CHECK(head_dash(2, 0, 3) != head_dash(0, 0, 3));
}

TEST_CASE("the words for a run name its model, task and seed") {
  Config config;
  config.model.context = 48;
  CHECK(run_in_words(config) ==
        "2 layers, 2 heads each, width 64, attention only · repeated sequence, length 48, period 6 to 24 · "
        "seed 1");
  config.model.layers = 1;
  config.model.feed_forward = 256;
  config.task.name = "fixed_period_sequence";
  config.train.data_seed = 7;
  CHECK(
      run_in_words(config) ==
      "1 layer, 2 heads, width 64, feed-forward 256 · fixed period sequence, length 48, period 12 · seeds 1 "
      "(weights), 7 (data)");
  config.interventions.resize(2);
  CHECK(run_in_words(config).ends_with("7 (data) · 2 interventions"));
}

TEST_CASE("numbers have a minus as wide as a plus, and zero has no sign") {
  CHECK(in_figures(-0.254) == "−0.25");
  CHECK(in_figures(12.5, 0) == "12");
  CHECK(in_figures(-0.004) == "0.00");
  CHECK(with_sign(0.254) == "+0.25");
  CHECK(with_sign(-3.14159, 4) == "−3.1416");
  CHECK(with_sign(0.004) == "0.00");
  CHECK(with_sign(0.004, 3) == "+0.004");
}

TEST_CASE("numbers on an axis are 1, 2 or 5 times a power of ten apart, and no more than there is room for") {
  CHECK(tic_step(2000, 6) == 500);
  CHECK(tic_step(6, 6) == 1);
  CHECK(tic_step(6, 5.9) == 2);
  CHECK(tic_step(0.3, 10) == doctest::Approx(0.05));
  CHECK(tic_step(60, 2.5) == 50);
  Figure figure;
  set_step_axis(figure, {0, 160, 0, 0}, 2000);  // room for three numbers
  CHECK(contains(figure.script.text(), "set xrange [0:2000]\nset xtics 1000\n"));
  set_step_axis(figure, {0, 800, 0, 0}, 3);
  CHECK(contains(figure.script.text(), "set xrange [0:3]\nset xtics 1\n"));
}

TEST_CASE("words stand where they are written, in any direction and with any sign") {
  Figure figure{"words", 500, 300, {}};
  figure.script.line("set multiplot");
  write(figure, "It's {a} title_1", 20, 40, {.is_bold = true});
  write(figure, "upright", 100, 150, {.align = "center", .is_upright = true});
  plot(figure, "[0:1] [0:1] NaN notitle");
  plot(figure, "[0:1] [0:1] NaN notitle");
  const std::vector<Words> words = words_in(svg_of(figure));
  const auto found = [&](const std::string& text) {
    const auto at = std::ranges::find(words, text, &Words::text);
    REQUIRE(at != words.end());
    CHECK(std::ranges::count(words, text, &Words::text) == 1);  // not with the second plot too
    return *at;
  };
  CHECK(found("It's {a} title_1").left == doctest::Approx(20).epsilon(0.02));
  CHECK((found("It's {a} title_1").top + found("It's {a} title_1").bottom) / 2 ==
        doctest::Approx(40).epsilon(0.03));
  CHECK((found("upright").left + found("upright").right) / 2 == doctest::Approx(100).epsilon(0.03));
  CHECK((found("upright").top + found("upright").bottom) / 2 == doctest::Approx(150).epsilon(0.03));
}
