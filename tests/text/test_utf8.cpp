#include "tapehead/text/utf8.h"

#include <string>
#include <vector>

#include "support/testing.h"
#include "tapehead/base/random.h"

using namespace tapehead;
using Kind = Utf8Character::Kind;

namespace {

const std::string kReplaced = "\xef\xbf\xbd";

/// What a stream prints of these bytes, `piece` at a time.
std::string streamed(const std::string& bytes, std::size_t piece) {
  Utf8Stream stream;
  std::string printed;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const std::string now = stream.feed(std::string_view(bytes).substr(at, piece));
    REQUIRE(find_invalid_utf8(now) == std::string::npos);
    printed += now;
  }
  return printed + stream.flush();
}

struct Broken {
  std::string bytes;
  Kind kind;
  std::size_t length;
};

}  // namespace

TEST_CASE("every code point is written and read back") {
  Index right = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c == 0xD800) c = 0xE000;
    const std::string bytes = utf8_of(c);
    const Utf8Character character = first_character(bytes + "a");
    right += character.kind == Kind::whole && character.length == bytes.size() && character.code_point == c;
  }
  CHECK(right == 0x110000 - 0x800);
  CHECK(utf8_of(0x24) == "$");
  CHECK(utf8_of(0xA3) == "\xc2\xa3");
  CHECK(utf8_of(0x20AC) == "\xe2\x82\xac");
  CHECK(utf8_of(0x1F600) == "\xf0\x9f\x98\x80");
}

TEST_CASE("what is no code point is written as the replacement character") {
  CHECK(utf8_of(0xD800) == kReplaced);
  CHECK(utf8_of(0xDFFF) == kReplaced);
  CHECK(utf8_of(0x110000) == kReplaced);
}

TEST_CASE("overlong forms, surrogates, stray and missing bytes are no characters") {
  const std::vector<Broken> all{
      {"\x80", Kind::invalid, 1},
      {"\xbf\x80", Kind::invalid, 1},
      {"\xc0\x80", Kind::invalid, 1},
      {"\xc1\xbf", Kind::invalid, 1},
      {"\xe0\x9f\xbf", Kind::invalid, 1},
      {"\xed\xa0\x80", Kind::invalid, 1},
      {"\xed\xbf\xbf", Kind::invalid, 1},
      {"\xf0\x8f\xbf\xbf", Kind::invalid, 1},
      {"\xf4\x90\x80\x80", Kind::invalid, 1},
      {"\xf5\x80\x80\x80", Kind::invalid, 1},
      {"\xff", Kind::invalid, 1},
      {"\xc3(", Kind::invalid, 1},
      {"\xe2\x82(", Kind::invalid, 2},
      {"\xf0\x9f\x98(", Kind::invalid, 3},
      {"\xc3", Kind::unfinished, 1},
      {"\xe2\x82", Kind::unfinished, 2},
      {"\xf0\x9f\x98", Kind::unfinished, 3},
  };
  for (const Broken& broken : all) {
    CAPTURE(broken.bytes.size());
    CAPTURE(static_cast<int>(static_cast<unsigned char>(broken.bytes[0])));
    const Utf8Character character = first_character(broken.bytes);
    CHECK(character.kind == broken.kind);
    CHECK(character.length == broken.length);
    CHECK(character.code_point == kReplacementCharacter);
    CHECK(find_invalid_utf8("\xc3\xa9" + broken.bytes) == 2);
  }
  CHECK(find_invalid_utf8("") == std::string::npos);
  CHECK(find_invalid_utf8(std::string("a\0\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", 12)) ==
        std::string::npos);
}

TEST_CASE("a stream prints a character when its last byte has come, and not before") {
  Utf8Stream stream;
  CHECK(stream.feed("a\xf0") == "a");
  CHECK(stream.feed("\x9f\x98").empty());
  CHECK(stream.feed("\x80"
                    "b") ==
        "\xf0\x9f\x98\x80"
        "b");
  CHECK(stream.flush().empty());
}

TEST_CASE("a stream prints one replacement for each start of a character that cannot become one") {
  // The example of Unicode's table 3-8.
  CHECK(streamed("a\xf1\x80\x80\xe1\x80\xc2"
                 "b\x80"
                 "c\x80\xbf"
                 "d",
                 1) ==
        "a" + kReplaced + kReplaced + kReplaced + "b" + kReplaced + "c" + kReplaced + kReplaced + "d");
  CHECK(streamed("\xed\xa0\x80", 1) == kReplaced + kReplaced + kReplaced);
  Utf8Stream stream;
  CHECK(stream.feed("\xe2\x82").empty());
  CHECK(stream.feed("x") == kReplaced + "x");
}

TEST_CASE("a stream that ends within a character prints one replacement, and can be used again") {
  Utf8Stream stream;
  CHECK(stream.feed("\xf0\x9f\x98").empty());
  CHECK(stream.flush() == kReplaced);
  CHECK(stream.flush().empty());
  CHECK(stream.feed("\x80") == kReplaced);
}

TEST_CASE("what a stream prints does not depend on the pieces that the bytes come in") {
  Generator generator(1);
  const std::string starts = "a\x80\xbf\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\xed\xa0\xf4\x90\xff";
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    for (int i = 0; i < 30; ++i)
      bytes += starts[static_cast<std::size_t>(generator.below(static_cast<Index>(starts.size())))];
    const std::string whole = streamed(bytes, bytes.size());
    for (std::size_t piece = 1; piece <= 5; ++piece) REQUIRE(streamed(bytes, piece) == whole);
    if (find_invalid_utf8(bytes) == std::string::npos) CHECK(whole == bytes);
  }
}

TEST_CASE("text with control characters of any kind is not printable, and all other text is") {
  for (const char* text : {"", "plain", "é 漢🙂", "e\u0301", "\u00a0"}) CHECK(is_printable(text));
  for (const char* text : {"\x1b[0m", "a\n", "\x7f", "\u0080", "\u009b", "\u009f", "a\xff", "\xe6\xbc"})
    CHECK_FALSE(is_printable(text));
}
