#include "tapehead/text/character_tokenizer.h"

#include "support/folder.h"
#include "support/reference.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Ids = std::vector<std::int32_t>;

/// What is said against a call, or "accepted".
template <class Call>
std::string fault(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::string fault_of_file(const std::string& text) {
  return fault([&] { CharacterTokenizer({"c.json", text}); });
}

}  // namespace

TEST_CASE("characters are numbered in the order of their code points") {
  const CharacterTokenizer tokenizer = CharacterTokenizer::from_text("hé llo\n😀z");
  CHECK(tokenizer.size() == 8);
  CHECK(tokenizer.encode("\n hloz\u00e9😀") == Ids{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(tokenizer.bytes_of(6) == "é");
  CHECK(tokenizer.bytes_of(7) == "😀");
  CHECK(tokenizer.decode(tokenizer.encode("hollo é")) == "hollo é");
  CHECK(tokenizer.encode("").empty());
  CHECK(tokenizer.decode(Ids{}).empty());
  CHECK_FALSE(tokenizer.end_of_text().has_value());
}

TEST_CASE("the characters at the borders of UTF-8's lengths and a zero are characters like any others") {
  const std::string text("\0\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
                         20);
  const CharacterTokenizer tokenizer = CharacterTokenizer::from_text(text);
  CHECK(tokenizer.encode(text) == Ids{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(tokenizer.decode(Ids{0, 1, 2, 3, 4, 5, 6, 7}) == text);
}

TEST_CASE("a character that is not in the vocabulary is named, with its place") {
  const CharacterTokenizer tokenizer = CharacterTokenizer::from_text("ab\né");
  CHECK(fault([&] { tokenizer.encode("é\n\nabc"); }) ==
        "[tokenizer] \"c\" (U+0063) is not among the 4 characters of the vocabulary, at byte 6 of the text, "
        "in line 3");
  CHECK(fault([&] { tokenizer.encode("😀"); }) ==
        "[tokenizer] \"\\ud83d\\ude00\" (U+1F600) is not among the 4 characters of the vocabulary, at byte 0 "
        "of the text, in line "
        "1");
  CHECK(fault([&] { tokenizer.encode("<", Specials::recognised); }).find("U+003C") != std::string::npos);
}

TEST_CASE("text that is no UTF-8 is refused, with the byte") {
  const CharacterTokenizer tokenizer = CharacterTokenizer::from_text("ab\né");
  const std::string expected = "[tokenizer] byte 0xC3 is not valid UTF-8, at byte 3 of the text, in line 2";
  CHECK(fault([&] { tokenizer.encode("ab\n\xc3"); }) == expected);
  CHECK(fault([&] { CharacterTokenizer::from_text("ab\n\xc3("); }) == expected);
}

TEST_CASE("a text without characters makes no vocabulary") {
  CHECK(fault([] { CharacterTokenizer::from_text(""); }) ==
        "[tokenizer] a vocabulary needs at least one character");
  CHECK(fault_of_file("{}") == "[tokenizer] a vocabulary needs at least one character");
}

TEST_CASE("a saved vocabulary that is not one character a token, in order, is refused") {
  CHECK(fault_of_file(R"({"a":0,"b":1})") == "accepted");
  CHECK(fault_of_file(R"({"a":0,"bc":1})") == "[tokenizer] c.json: expected single characters, got \"bc\"");
  CHECK(fault_of_file(R"({"b":0,"a":1})") ==
        "[tokenizer] c.json: expected ids in the order of code points, but id 1 is \"a\"");
  CHECK(fault_of_file(R"({"a":1})").find("id 0 is missing") != std::string::npos);
}

TEST_CASE("Shakespeare has 65 characters, and comes back from their ids") {
  const auto file = reference_data("text/tinyshakespeare.txt");
  if (!file) return;
  const std::string text = text_of(*file);
  const CharacterTokenizer tokenizer = CharacterTokenizer::from_text(text);
  CHECK(tokenizer.size() == 65);
  const Ids ids = tokenizer.encode(text);
  CHECK(ids.size() == 1115394);
  // The ids of nanoGPT's and minGPT's vocabulary of this text.
  CHECK(tokenizer.encode("First Citizen:") == Ids{18, 47, 56, 57, 58, 1, 15, 47, 58, 47, 64, 43, 52, 10});
  CHECK(tokenizer.decode(ids) == text);
}
