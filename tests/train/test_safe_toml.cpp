#include "tapehead/train/safe_toml.h"

#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("plain text, and text with strings and comments, stays as it is") {
  for (const char* text :
       {"", "a = 1\n", "a = \"x # no comment\" # comment\nb = 'it # too'\n", "a = \"\"\"\n'x'\n\"\"\"\n",
        "a = \"quoted \\\" and on\" # x\n", "a = '\\' # x\n", "a = \"unclosed\nb = 1\n"}) {
    CAPTURE(text);
    CHECK(safe_toml(text, "f") == text);
  }
}

TEST_CASE("letters beyond ASCII stay in strings and are masked in comments") {
  CHECK(safe_toml("a = \"é\" # é\n", "f") == "a = \"é\" # ?\n");
  CHECK(safe_toml("a = 'é' # it's é\n", "f") == "a = 'é' # it's ?\n");
  CHECK(safe_toml("a = \"\"\"é\n\"é\"\"\"\" # é\n", "f") == "a = \"\"\"é\n\"é\"\"\"\" # ?\n");
  CHECK(safe_toml("a = '''é\n'''\n", "f") == "a = '''é\n'''\n");
  CHECK(safe_toml("# \"é\n# '\"\"\"é\n", "f") == "# \"?\n# '\"\"\"?\n");
}

TEST_CASE("a letter beyond ASCII elsewhere is refused where it stands, counted in characters") {
  CHECK(complaint_of([] { safe_toml("a = 1\né = 2\n", "f"); }) ==
        "f:2:1: expected only ASCII outside comments and strings, got 'é'");
  CHECK(complaint_of([] { safe_toml("a = \"éé\" é\n", "f"); }) ==
        "f:1:10: expected only ASCII outside comments and strings, got 'é'");
  CHECK(complaint_of([] { safe_toml("a = \"open\né\"\n", "f"); }) ==
        "f:2:1: expected only ASCII outside comments and strings, got 'é'");
  CHECK(complaint_of([] { safe_toml("a = \"x\\\\\"é", "f"); }).starts_with("f:1:10: "));
}

TEST_CASE("bytes that are no UTF-8 are refused anywhere") {
  for (const char* text : {"a = \"\xFF\"\n", "# \xC0\x80\n", "\xED\xA0\x80", "# \xE2\x82", "a = '\xC3\n'"}) {
    CAPTURE(text);
    CHECK(complaint_of([&] { safe_toml(text, "f"); }).find("expected UTF-8, got the byte 0x") !=
          std::string::npos);
  }
}

TEST_CASE("a byte-order mark is passed over") {
  CHECK(safe_toml("\xEF\xBB\xBF"
                  "a = 1",
                  "f") == "a = 1");
}
