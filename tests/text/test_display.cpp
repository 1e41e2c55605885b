#include "tapehead/text/display.h"

#include "support/testing.h"

using namespace tapehead;

TEST_CASE("Chinese and emoji take two columns, accents none, and all else one") {
  CHECK(display_width(U'a') == 1);
  CHECK(display_width(U'é') == 1);
  CHECK(display_width(U'█') == 1);
  CHECK(display_width(U'漢') == 2);
  CHECK(display_width(U'Ａ') == 2);  // fullwidth
  CHECK(display_width(U'🙂') == 2);
  CHECK(display_width(U'\u0301') == 0);
  CHECK(display_width(U'\u200d') == 0);
  CHECK(display_width("e\u0301 漢🙂") == 1 + 1 + 2 + 2);
  CHECK(display_width("\u1112\u1161\u11ab") == 2);  // one Korean syllable of three letters
  CHECK(display_width("") == 0);
  CHECK(display_width("a\xff\xe6\xbc") == 3);
}

TEST_CASE("what moves the cursor, begins an escape sequence or turns the line around is not shown") {
  for (const char32_t hostile :
       {U'\x1b', U'\n', U'\x7f', U'\u009b', U'\u202e', U'\u2067', U'\u200b', U'\u2028'}) {
    CAPTURE(static_cast<std::uint32_t>(hostile));
    CHECK_FALSE(is_shown(hostile));
  }
  for (const char32_t seen : {U' ', U'a', U'漢', U'🙂', U'\u0301', U'\u00a0'}) CHECK(is_shown(seen));
}

TEST_CASE("text is cut to columns, not to characters or bytes, and says that it was") {
  CHECK(cut_to_width("abc", 3) == "abc");
  CHECK(cut_to_width("abcd", 3) == "ab…");
  const std::vector<std::string> wordings{"abcdef", "abcd", "abc"};
  CHECK(fitting(wordings, 6) == "abcdef");
  CHECK(fitting(wordings, 5) == "abcd");
  CHECK(fitting(wordings, 2) == "a…");
  CHECK(fitting({}, 2).empty());
  CHECK(cut_to_width("漢字漢", 6) == "漢字漢");
  CHECK(cut_to_width("漢字漢", 5) == "漢字…");
  CHECK(cut_to_width("漢字漢", 4) == "漢…");
  CHECK(cut_to_width("e\u0301e\u0301e\u0301", 2) == "e\u0301…");
  CHECK(cut_to_width("abc", 1) == "…");
  CHECK(cut_to_width("abc", 0).empty());
  CHECK(cut_to_width("", 0).empty());
}

TEST_CASE("each cell of a text has one or two columns, and nothing in it that is not shown") {
  using Cells = std::vector<std::string>;
  CHECK(display_cells("ab") == Cells{"a", "b"});
  CHECK(display_cells("e\u0301漢") == Cells{"e\u0301", "漢"});
  CHECK(display_cells("\u0301a") == Cells{"◌\u0301", "a"});
  CHECK(display_cells("❤\ufe0f") == Cells{"❤"});
  CHECK(display_cells("\x1b[2J") == Cells{"·", "[", "2", "J"});
  CHECK(display_cells("a\u202eb\u009b") == Cells{"a", "·", "b", "·"});
  CHECK(display_cells("\xe6\xbc"
                      "a") == Cells{"·", "a"});
  CHECK(display_cells("").empty());
}
