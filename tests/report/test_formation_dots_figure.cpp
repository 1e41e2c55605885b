#include "tapehead/report/formation_dots_figure.h"

#include <algorithm>
#include <regex>

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// Runs that formed at these steps, and so many that did not by step 2000.
StepGroup group_of(std::string label, const std::vector<double>& steps, int never = 0) {
  StepGroup group{std::move(label), {}};
  for (const double step : steps) group.runs.push_back({step, 2000});
  for (int i = 0; i < never; ++i) group.runs.push_back({{}, 2000});
  return group;
}

/// The rows of a data block of the figure's script.
std::vector<std::vector<double>> block(const Figure& figure, const std::string& name) {
  const std::string& script = figure.script.text();
  std::vector<std::vector<double>> rows;
  const std::size_t start = script.find(name + " << ");
  if (start == std::string::npos) return rows;
  std::istringstream lines(script.substr(start));
  std::string line;
  std::getline(lines, line);
  const std::string end = line.substr(line.rfind(' ') + 1);
  while (std::getline(lines, line) && line != end) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (double cell = 0; cells >> cell;) rows.back().push_back(cell);
  }
  return rows;
}

Figure figure_of(const std::vector<StepGroup>& groups, const FigureSize& size = kPageSize) {
  return formation_dots_figure(groups, {"a subtitle"}, size);
}

}  // namespace

TEST_CASE("every run is a dot at its step or a cross among those not formed, and counts") {
  const Figure figure =
      figure_of({group_of("one layer", {}, 5), group_of("two layers", {300, 310, 300, 400}, 1)});
  const std::string svg = svg_of(figure);
  for (const std::string text : {"a subtitle", "one layer", "0 of 5", "> 2000", "two layers", "4 of 5", "310",
                                 "not formed by", "step 2000", "a dot: a run"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  CHECK(dots(svg) == 4);
  std::vector<double> steps;
  for (const auto& row : block(figure, "$dots")) steps.push_back(row[0]);
  CHECK(steps == std::vector<double>{300, 300, 310, 400});
  CHECK(block(figure, "$crosses").size() == 6);
}

TEST_CASE("median and quartiles count the runs that did not form, as later than all") {
  const Figure all = figure_of({group_of("a", {100, 200, 300, 400, 500})});
  CHECK(block(all, "$bands").front()[0] == 200);
  CHECK(block(all, "$bands").front()[1] == 400);
  CHECK(block(all, "$medians").front()[0] == 300);
  // Of eight, the median is between the fourth and the fifth, the upper quartile censored: no end.
  const Figure some = figure_of({group_of("a", {100, 200, 300, 400, 500}, 3)});
  CHECK(block(some, "$medians").front()[0] == 450);
  CHECK(block(some, "$bands").front()[0] == 275);
  CHECK(contains(some.script.text(), "set xrange [0:550]"));
  CHECK(block(some, "$bands").front()[1] == 550);
  const Figure few = figure_of({group_of("a", {100, 200}, 3)});
  CHECK(block(few, "$medians").empty());
  CHECK(block(few, "$bands").front()[0] == 200);
  CHECK(block(figure_of({group_of("a", {100}, 4)}), "$bands").empty());
}

TEST_CASE("dots do not hide each other, however many runs form at once, and stay in their row") {
  const Figure figure = figure_of({group_of("a", std::vector<double>(40, 300.0)), group_of("b", {301, 302})});
  const auto rows = block(figure, "$dots");
  REQUIRE(rows.size() == 42);
  std::vector<double> places;
  for (std::size_t i = 0; i < 40; ++i) places.push_back(rows[i][1]);
  std::ranges::sort(places);
  CHECK(std::ranges::adjacent_find(places) == places.end());
  const double boundary = 38;  // pixels: the lower of two rows
  CHECK(places.front() > boundary);
  CHECK(places.back() < 2 * boundary);
  CHECK(rows[40][1] < boundary);
  CHECK(std::abs(rows[40][1] - rows[41][1]) == doctest::Approx(8));
  CHECK(block(figure_of({group_of("a", std::vector<double>(5000, 300.0))}), "$dots").size() == 5000);
}

TEST_CASE("rows stand in the order of their groups, the first on top") {
  const auto rows =
      block(figure_of({group_of("a", {100}), group_of("b", {200}), group_of("c", {300})}), "$dots");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0][1] > rows[1][1]);
  CHECK(rows[1][1] > rows[2][1]);
}

TEST_CASE("last steps that differ are not named as one") {
  StepGroup group = group_of("a", {100}, 1);
  group.runs.push_back({{}, 500});
  CHECK(contains(svg_of(figure_of({group})), "its last step"));
  CHECK_FALSE(contains(svg_of(figure_of({group_of("a", {100})})), "not formed"));
}

TEST_CASE("no group, and a group without runs, is an error") {
  CHECK_THROWS_AS(figure_of({}), Error);
  CHECK_THROWS_WITH_AS(figure_of({group_of("empty", {})}), doctest::Contains("got none of 'empty'"), Error);
  CHECK_NOTHROW(svg_of(figure_of({{"at the start", {{0.0, 0}}}})));
}
