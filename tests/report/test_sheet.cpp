#include "tapehead/report/sheet.h"

#include "report/drawing.h"
#include "report/svg_words.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

const Caption kCaption{
    .title = "It's {a} title_1 that is long enough for two lines of a column",
    .subtitle = "and what it is of",
    .key = {{"■ one", kInductionColour}, {"■ two", kNoiseColour}},
    .remarks = {{"a remark that is long enough to be broken where the figure is narrow, and below"},
                {"another", kInk}}};
constexpr PlotHeights kHeights{50, 200, 100};

Sheet sheet_of(const FigureSize& size) {
  Sheet sheet = start_sheet("sheet", size, kCaption, kHeights);
  place(sheet.figure, {50, size.width - 50, sheet.top, sheet.top + sheet.plots}, "");
  plot(sheet.figure, "[0:1] [0:1] NaN notitle");
  return sheet;
}

}  // namespace

TEST_CASE("a sheet has its words around the plots, none cut off, with lines broken where it is narrow") {
  const Sheet page = sheet_of(kPageSize);
  const Sheet column = sheet_of(kColumnSize);
  CHECK(page.figure.width == 880);
  CHECK(column.figure.width == 440);
  CHECK(page.plots == 200);
  CHECK(column.plots == 200);
  CHECK(column.top > page.top);
  CHECK(column.figure.height - column.top > page.figure.height - page.top);
  for (const Sheet* sheet : {&page, &column}) {
    const std::string svg = svg_of(sheet->figure);
    for (const std::string text :
         {"{a} title_1", "and what it is of", "■ one", "■ two", "a remark", "another"}) {
      CAPTURE(text);
      CHECK(contains(svg, text));
    }
    CHECK(faults_of_words(svg, sheet->figure.width, sheet->figure.height) == "");
    for (const Words& words : words_in(svg)) {
      const bool is_above = words.bottom < sheet->top;
      const bool is_below = words.top > sheet->top + sheet->plots + kHeights.around;
      const bool is_number = words.text.find_first_not_of("0123456789.") == std::string::npos;
      CAPTURE(words.text);
      CHECK((is_above || is_below || is_number));
    }
  }
}

TEST_CASE("plots take what a height that is asked for leaves them, and one that is too low is an error") {
  const Sheet natural = sheet_of(kColumnSize);
  const int words = natural.figure.height - natural.plots;
  CHECK(sheet_of({440, words + 500}).plots == 500);
  CHECK(sheet_of({440, words + 500}).figure.height == words + 500);
  CHECK(sheet_of({440, words + 100}).plots == 100);
  const std::string message = fmt::format(
      "[figures] expected a height of at least {} pixels for the figure sheet with a width of 440, got {}",
      words + 100, words + 99);
  CHECK_THROWS_WITH_AS(sheet_of({440, words + 99}), message.c_str(), Error);
}
