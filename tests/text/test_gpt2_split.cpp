#include "tapehead/text/gpt2_split.h"

#include <unicode/regex.h>

#include <string>
#include <vector>

#include "support/testing.h"
#include "tapehead/base/random.h"
#include "tapehead/text/utf8.h"

using namespace tapehead;

namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
  Words words;
  while (!text.empty()) {
    words.emplace_back(first_word(text));
    text.remove_prefix(words.back().size());
  }
  return words;
}

/// GPT-2's pattern itself, run by ICU.
Words matches_of(const std::string& text) {
  UErrorCode status = U_ZERO_ERROR;
  static icu::RegexMatcher matcher(
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+)"
      R"(|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+)",
      0, status);
  REQUIRE(U_SUCCESS(status));
  const icu::UnicodeString input = icu::UnicodeString::fromUTF8(text);
  matcher.reset(input);
  Words words;
  while (matcher.find()) matcher.group(status).toUTF8String(words.emplace_back());
  REQUIRE(U_SUCCESS(status));
  return words;
}

}  // namespace

TEST_CASE("a space joins the word after it, and no other blank does") {
  CHECK(words_of("How are you?") == Words{"How", " are", " you", "?"});
  CHECK(words_of(" 12 ab !?") == Words{" 12", " ab", " !?"});
  CHECK(words_of("a\tb\nc") == Words{"a", "\t", "b", "\n", "c"});
  CHECK(words_of("a\u00a0b\u3000c") == Words{"a", "\u00a0", "b", "\u3000", "c"});
}

TEST_CASE("of a run of blanks the last one goes to the word after it, at the end it stays") {
  CHECK(words_of("a  b") == Words{"a", " ", " b"});
  CHECK(words_of("a \n b") == Words{"a", " \n", " b"});
  CHECK(words_of("a  \nb") == Words{"a", "  ", "\n", "b"});
  CHECK(words_of("a  \n") == Words{"a", "  \n"});
  CHECK(words_of(" ") == Words{" "});
  CHECK(words_of("   ") == Words{"   "});
}

TEST_CASE("contractions are words of their own, in lower case and where a word begins") {
  CHECK(words_of("we'll I've it's don't I'm he'd they're") ==
        Words{"we", "'ll", " I", "'ve", " it", "'s", " don", "'t", " I", "'m", " he", "'d", " they", "'re"});
  CHECK(words_of("I'VE") == Words{"I", "'", "VE"});
  CHECK(words_of("'tis 'tis") == Words{"'t", "is", " '", "tis"});
  CHECK(words_of("?'d''d") == Words{"?'", "d", "''", "d"});
  CHECK(words_of("'l 'r'") == Words{"'", "l", " '", "r", "'"});
}

TEST_CASE("letters and numbers are those of Unicode") {
  CHECK(words_of("naïve 漢字½٣") == Words{"naïve", " 漢字", "½٣"});
  CHECK(words_of("a_b") == Words{"a", "_", "b"});
  // A combining accent is a mark, not a letter; U+200B and U+001C are no blanks.
  CHECK(words_of("e\u0301e") == Words{"e", "\u0301", "e"});
  CHECK(words_of("a\u200b\x1c"
                 "b") == Words{"a", "\u200b\x1c", "b"});
}

TEST_CASE("bytes that are no character count as punctuation") {
  CHECK(words_of("a\xff\xfe!b") == Words{"a", "\xff\xfe!", "b"});
  CHECK(words_of(" \xe2\x82 ") == Words{" \xe2\x82", " "});
  CHECK(words_of("\xc3") == Words{"\xc3"});
}

TEST_CASE("random texts are cut as the pattern cuts them") {
  const std::vector<std::string> pieces{
      " ",      " ", "\n", "\t", "\v", "\x1c", "\u0085", "\u00a0", "\u1680", "\u180e", "\u2003", "\u2028",
      "\u3000", "'", "'",  "s",  "t",  "re",   "ve",     "m",      "ll",     "d",      "S",      "é",
      "漢",     "½", "٣",  "Ⅷ",  "7",  "_",    "-",      "\u0301", "😀",      "\u200b", "\ufffd", "ª"};
  Generator generator(1);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (Index i = generator.below(24); i >= 0; --i)
      text += pieces[static_cast<std::size_t>(generator.below(static_cast<Index>(pieces.size())))];
    CAPTURE(text);
    REQUIRE(words_of(text) == matches_of(text));
  }
}

TEST_CASE("every code point is of the class that the pattern has it in") {
  std::string text;
  for (char32_t c = 1; c <= 0x10FFFF; ++c) {
    // Between a letter and a number, each of the four classes is cut in its own way.
    text += 'a' + utf8_of(c) + '1';
    if (c % 250 != 0 && c != 0x10FFFF) continue;
    REQUIRE(words_of(text) == matches_of(text));
    text.clear();
  }
}
