#include "tapehead/report/head_map_figure.h"

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// Queries that look evenly at all they see; every third token repeats.
Figure figure_of(std::size_t length, const std::string& sign = "x") {
  AttentionMap map{1, 0, std::vector(length, std::vector<double>(length, 0))};
  std::vector<std::vector<Index>> targets(length);
  for (std::size_t query = 0; query < length; ++query) {
    for (std::size_t key = 0; key <= query; ++key)
      map.weights[query][key] = 1.0 / static_cast<double>(query + 1);
    if (query >= 3) targets[query].push_back(static_cast<Index>(query) - 2);
  }
  return head_map_figure(map, std::vector(length, sign), targets, "sequence 3 of the evaluation batch",
                         Config{}, 300);
}

}  // namespace

TEST_CASE("one head's map has its tokens on the axes, its targets marked, and says what it shows") {
  const Figure figure = figure_of(5);
  const std::string svg = svg_of(figure);
  for (const char* text :
       {"What layer 1 head 0 looks at after 300 steps", "sequence 3 of the evaluation batch, 5 positions",
        "attention weight", "circles: after an earlier copy", ">query<", ">key<", "0.75"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  CHECK(count(svg, ">x<") == 10);
  CHECK(count(svg, "href='#gpPt5' transform") == 2 * 2);
  // Row by row, the keys that are later marked by -1.
  CHECK(contains(figure.script.text(),
                 "$map << END\n1 -1 -1 -1 -1 \n0.5 0.5 -1 -1 -1 \n0.333 0.333 0.333 -1 -1 \n"));
  CHECK(contains(figure.script.text(), "$marks << END\n1 3 \n2 4 \nEND"));
}

TEST_CASE("a long map has positions on its axes and no marks, and the longest is cut, which it says") {
  const std::string long_map = svg_of(figure_of(200));
  CHECK(contains(long_map, "query (position)"));
  CHECK(contains(long_map, "200 positions"));
  CHECK_FALSE(contains(long_map, "circles"));
  CHECK(long_map.size() < 200'000);
  const Figure longest = figure_of(1030);
  CHECK(contains(longest.script.text(), "positions 0 to 1023 of the 1030 of sequence 3"));
}

TEST_CASE("a map of one position can be drawn, and signs of any text") {
  CHECK(contains(svg_of(figure_of(1)), "1 position<"));
  CHECK(contains(svg_of(figure_of(4, "<{'_^")), "&lt;{'_^"));
  CHECK(figure_of(4, "abcde").height > figure_of(4, "a").height);
}

TEST_CASE("a map without positions, or without a sign for each, is refused") {
  CHECK_THROWS_AS(figure_of(0), Error);
  CHECK_THROWS_AS(head_map_figure({0, 0, {{1}}}, {}, {{}}, "", Config{}, 0), Error);
}
