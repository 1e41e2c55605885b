#include "tapehead/report/colour_scale.h"

#include "report/drawing.h"
#include "report/svg_words.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

std::string svg_with(void (*show)(Figure&)) {
  Figure figure{"scale", 300, 300, {}};
  figure.script.line("set palette defined (0 '#ffffff', 1 '#000000')\nset cbrange [0:1]\nset minussign");
  place(figure, {20, 120, 20, 120}, "");
  show(figure);
  figure.script.data("$cell", {{0}, {0}, {0.5}});
  plot(figure, "$cell using 1:2:3 with image notitle");
  return svg_of(figure);
}

}  // namespace

TEST_CASE("a scale has its name and its numbers in its own room, below maps or beside them") {
  const std::string below =
      svg_with([](Figure& figure) { show_scale_below(figure, "weight", 20, 200, 0.5); });
  const std::string beside =
      svg_with([](Figure& figure) { show_scale_beside(figure, "weight", 180, 40, 140, 0.5); });
  for (const std::string& svg : {below, beside})
    for (const std::string text : {"weight", ">0<", ">0.5<", ">1<"}) {
      CAPTURE(text);
      CHECK(contains(svg, text));
    }
  for (const Words& words : words_in(below))
    if (words.text == "weight" || (words.text == "0.5" && words.left > 60 && words.top > 150)) {
      CHECK(words.top >= 200 - 1);
      CHECK(words.bottom <= 200 + kScaleHeight);
    }
  for (const Words& words : words_in(beside))
    if (words.text == "weight") {
      CHECK(words.left >= 180);
      CHECK(words.right <= 180 + kScaleWidth);
    }
}
