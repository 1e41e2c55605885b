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

TEST_CASE("letters beyond ASCII are escapes in double quotes and masked in comments") {
  CHECK(safe_toml("a = \"é学😀\" # é\n", "f") == "a = \"\\u00E9\\u5B66\\U0001F600\" # ?\n");
  CHECK(safe_toml("\"\x7f\u00a0\uffff\U00010000\U0010ffff\"", "f") ==
        "\"\x7f\\u00A0\\uFFFF\\U00010000\\U0010FFFF\"");
  CHECK(safe_toml("a = \"\\\\é\\\"é\" # é\n", "f") == "a = \"\\\\\\u00E9\\\"\\u00E9\" # ?\n");
  CHECK(safe_toml("a = 'e' # it's é\n", "f") == "a = 'e' # it's ?\n");
  CHECK(safe_toml("a = \"\"\"\\\né\n\"é\"\"\"\" # é\n", "f") ==
        "a = \"\"\"\\\n\\u00E9\n\"\\u00E9\"\"\"\" # ?\n");
  CHECK(safe_toml("a = '''e\n'e'''' # é\n", "f") == "a = '''e\n'e'''' # ?\n");
  CHECK(safe_toml("# \"é\n# '\"\"\"é\n", "f") == "# \"?\n# '\"\"\"?\n");
}

TEST_CASE("a letter beyond ASCII elsewhere is refused where it stands, counted in characters") {
  const std::string expected = "expected ASCII outside comments and double quotes, got 'é'";
  CHECK(complaint_of([] { safe_toml("a = 1\né = 2\n", "f"); }) == "f:2:1: " + expected);
  CHECK(complaint_of([] { safe_toml("a = \"éé\" é\n", "f"); }) == "f:1:10: " + expected);
  CHECK(complaint_of([] { safe_toml("a = \"open\né\"\n", "f"); }) == "f:2:1: " + expected);
  CHECK(complaint_of([] { safe_toml("a = \"x\\\\\"é", "f"); }) == "f:1:10: " + expected);
  CHECK(complaint_of([] { safe_toml("a = 'xé'", "f"); }) == "f:1:7: " + expected);
  CHECK(complaint_of([] { safe_toml("a = '''\né'''", "f"); }) == "f:2:1: " + expected);
}

TEST_CASE("a letter beyond ASCII does not become a part of an escape") {
  for (const char* text : {"a = \"\\é\"", "a = \"\\\\\\é\"", "a = \"\"\"\\é\"\"\""})
    CHECK(complaint_of([&] {
            safe_toml(text, "f");
          }).ends_with(": expected an escape of TOML after a backslash"));
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
