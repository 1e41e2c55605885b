#include "tapehead/report/glyphs.h"

#include "support/testing.h"

using namespace tapehead;

TEST_CASE("charsets are ranges in base 16, and other words say nothing") {
  const std::vector<GlyphRange> ranges =
      parse_charsets(":charset=20-7e e3f\n\n:charset=25a1 zz 4- -5 1f600-1f64f\n");
  REQUIRE(ranges.size() == 4);
  CHECK(ranges[0].first == 0x20);
  CHECK(ranges[0].last == 0x7e);
  CHECK(ranges[1].first == 0xe3f);
  CHECK(ranges[1].last == 0xe3f);
  CHECK(ranges[2].first == 0x25a1);
  CHECK(ranges[3].last == 0x1f64f);
  CHECK(parse_charsets("").empty());
}

TEST_CASE("what no font can draw becomes a box, or a question mark where there is none") {
  const std::vector<GlyphRange> latin{{0xa0, 0xff}};
  CHECK(with_glyphs_of("aé漢\n\t'", latin) == "aé?\n\t'");
  CHECK(with_glyphs_of("aé漢🙂", {{0xa0, 0xff}, {0x25a1, 0x25a1}}) == "aé□□");
  CHECK(with_glyphs_of("漢\xff", {{0x6f22, 0x6f22}}) == "漢?");
}

TEST_CASE("where nothing is known of fonts all characters stay") {
  CHECK(with_glyphs_of("aé漢", {}) == "aé漢");
}
