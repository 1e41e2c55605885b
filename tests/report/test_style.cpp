#include "tapehead/report/style.h"

#include <set>

#include "report/drawing.h"
#include "support/testing.h"

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

TEST_CASE("a figure starts with its title and subtitle as text") {
  Figure figure = start_figure("start", 500, 300, "It's {a} title_1", "and what it is of");
  place(figure, {60, 400, 80, 250}, "nats");
  label_x_axis(figure, {60, 400, 80, 250}, "step");
  label_line_ends(figure, {60, 400, 80, 250}, 0, 1, {{0.5, "the_line", kInk}, {0.5, "the other", kGrey}});
  figure.script.line("plot [0:1] [0:1] 0.5 with lines");
  const std::string svg = svg_of(figure);
  for (const std::string text :
       {"It's {a} title_1", "and what it is of", "nats", "step", "the_line", "the other"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
}
