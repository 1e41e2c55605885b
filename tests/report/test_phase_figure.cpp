#include "tapehead/report/phase_figure.h"

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

PhaseCell cell(const std::string& heads, const std::string& width, std::vector<Censored> runs) {
  return {{{"model.heads", heads}, {"model.width", width}}, std::move(runs)};
}

}  // namespace

TEST_CASE("a phase figure tells of every setting how many runs formed, and when half of them had") {
  const std::vector<PhaseCell> cells{cell("1", "32", {{100, 900}, {120, 900}, {{}, 900}}),
                                     cell("2", "32", {{300, 900}, {{}, 900}, {{}, 900}}),
                                     cell("2", "64", {{80, 900}})};
  const std::string svg = svg_of(phase_figure(cells, {"a subtitle", {{"a remark"}}}));
  for (const std::string text : {"a subtitle", "a remark", "2/3", "1/3", "1/1", "120", "80", "> 900", "heads",
                                 "width", "grey: half of the runs or more"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
}

TEST_CASE("each value of a third field has maps of its own") {
  std::vector<PhaseCell> cells;
  for (const char* period : {"8", "24"}) {
    cells.push_back(cell("1", "32", {{100, 900}}));
    cells.back().point.push_back({"task.period_max", period});
  }
  const std::string svg = svg_of(phase_figure(cells, {"a subtitle"}));
  for (const std::string text : {"period_max 8", "period_max 24"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  CHECK_FALSE(contains(svg, "grey:"));
}

TEST_CASE("cells of one field, of other fields, and without runs are refused") {
  CHECK_THROWS_WITH_AS(phase_figure({}, {}), doctest::Contains("at least one setting"), Error);
  CHECK_THROWS_WITH_AS(phase_figure(std::vector{PhaseCell{{{"model.heads", "1"}}, {{1, 2}}}}, {}),
                       doctest::Contains("of two or three fields, got 1"), Error);
  CHECK_THROWS_WITH_AS(phase_figure(std::vector{cell("1", "2", {})}, {}),
                       doctest::Contains("none of 'heads 1, width 2'"), Error);
  std::vector<PhaseCell> mixed{cell("1", "2", {{1, 2}}), cell("1", "2", {{1, 2}})};
  mixed[1].point[1].field = "model.layers";
  CHECK_THROWS_WITH_AS(phase_figure(mixed, {}), doctest::Contains("of the same fields"), Error);
}
