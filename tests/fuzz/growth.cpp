/// What a reader allocates grows with its input, by a small factor, whatever the input says.
#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz/allocation.h"
#include "support/byte_pairs.h"
#include "support/testing.h"
#include "tapehead/base/require.h"
#include "tapehead/tensor/safetensors_header.h"
#include "tapehead/text/byte_pair_tokenizer.h"
#include "tapehead/text/character_tokenizer.h"
#include "tapehead/train/config.h"

namespace tapehead {

namespace {

/// About `size` characters: a beginning, as many copies of a unit as fit, an end. Each @ in a unit becomes
/// the number of its copy.
struct Repeated {
  std::string_view begin, unit, end;

  std::string text(std::size_t size) const {
    std::string result(begin);
    for (int copy = 0; result.size() + unit.size() + end.size() < size; ++copy) {
      const std::size_t at = unit.find('@');
      result += unit.substr(0, at);
      if (at != unit.npos) result += std::to_string(copy) + std::string(unit.substr(at + 1));
    }
    return result + std::string(end);
  }
};

/// The most that was allocated while the text was read or refused.
template <class Read>
Index allocated(const std::string& text, const Read& read) {
  const fuzz::AllocationPeak peak;
  try {
    read(text);
  } catch (const Error&) {
  }
  return peak.bytes();
}

}  // namespace

TEST_CASE("reading a safetensors header allocates less than twenty times its size") {
  const auto read = [](const std::string& text) { parse_safetensors_header(text, 0, "x"); };
  const std::string_view entry = R"(,"@":{"dtype":"F4","shape":[0],"data_offsets":[0,0]})";
  for (const Repeated& input : {
           Repeated{R"({"a":{"dtype":"F32","shape":[)", "0,", R"(0],"data_offsets":[0,0]}})"},
           Repeated{R"({"a":{"dtype":"F32","data_offsets":[0,0],"shape":[)", "1,", "1]}}"},
           Repeated{R"({"a":{"data_offsets":[)", "1,", "1]}}"},
           Repeated{R"({"__metadata__":{"":"")", R"(,"@":"")", "}}"},
           Repeated{R"({"__metadata__":{"":"")", R"(,"@":"a value in a block of its own")", "}}"},
           Repeated{R"({"":{"dtype":"F4","shape":[0],"data_offsets":[0,0]})", entry, "}"},
           Repeated{R"({"":{"dtype":"F4","shape":[0],"data_offsets":[0,0]})", entry, ""},
           Repeated{R"({")", "n", R"(":{}})"},
           Repeated{R"({"a":)", "1", "}"},
           Repeated{R"({"a":0.)", "1", "}"},
           Repeated{R"({"a":)", "[", ""},
           Repeated{R"({"__metadata__":{"a":")", "\\u0000", ""},
       })
    for (const std::size_t size : {5'000UL, 150'000UL, 1'000'000UL}) {
      CAPTURE(input.begin);
      CAPTURE(input.unit);
      const std::string text = input.text(size);
      CHECK(allocated(text, read) < 20 * static_cast<Index>(text.size()));
    }
}

TEST_CASE("reading a config allocates less than 2.5 MiB, however long it is") {
  const auto read = [](const std::string& text) { parse_config(text, "x"); };
  Index most = 0;
  for (const Repeated& input : {
           Repeated{"", "a.", "a = 1"},
           Repeated{"", "a@.a=1\n", ""},
           Repeated{"", "a@=1\n", ""},
           Repeated{"[train]\n", "a@=1\n", ""},
           Repeated{"", "[a@]\n", ""},
           Repeated{"", "[[a]]\n", ""},
           Repeated{"[train]\nbetas = [", "1,", "]"},
           Repeated{"[train]\nbetas = [", "{},", "]"},
           Repeated{"[train]\nbetas = [", "[],", ""},
           Repeated{"a = [", "\"\",", "]"},
           Repeated{"a = ", "[", ""},
           Repeated{"a = \"", "x", "\""},
           Repeated{"", "x", " = 1"},
           Repeated{"#", "x", ""},
       })
    for (const std::size_t size : {16'384UL, 16'385UL, 1'000'000UL}) {
      CAPTURE(input.begin);
      CAPTURE(input.unit);
      const Index bytes = allocated(input.text(size), read);
      CHECK(bytes < 2'500'000);
      most = std::max(most, bytes);
    }
  CHECK(most > 1'000'000);
}

TEST_CASE("reading a vocabulary allocates less than thirty times its size") {
  const auto read = [](const std::string& text) { Vocabulary({"v.json", text}); };
  const auto read_characters = [](const std::string& text) { CharacterTokenizer({"c.json", text}); };
  for (const Repeated& input : {
           Repeated{R"({"a":0)", R"(,"@":@)", "}"},
           Repeated{R"({"a":0)", R"(,"a":0)", "}"},
           Repeated{R"({"a":0)", R"(,"a":0)", ""},
           Repeated{R"({"a":0)", R"(,"a token in a block of its own":0)", "}"},
           Repeated{R"({"a)", "a", R"(":0})"},
           Repeated{R"({"a)", R"(\u0000)", R"(":0})"},
           Repeated{R"({"a":)", "1", "}"},
           Repeated{R"({"a":0.)", "1", "}"},
           Repeated{R"({"a":)", "[", ""},
       })
    for (const std::size_t size : {5'000UL, 150'000UL, 1'000'000UL}) {
      CAPTURE(input.begin);
      CAPTURE(input.unit);
      const std::string text = input.text(size);
      CHECK(allocated(text, read) < 30 * static_cast<Index>(text.size()));
      CHECK(allocated(text, read_characters) < 30 * static_cast<Index>(text.size()));
    }
}

TEST_CASE("reading merges allocates less than twenty times their size") {
  testing::BytePairs pairs;
  pairs.tokens.emplace_back("aa");
  const Vocabulary vocabulary(pairs.vocabulary_file());
  const auto read = [&](const std::string& text) { Merges({"m.txt", text}, vocabulary); };
  for (const Repeated& input : {
           Repeated{"", "a a\n", ""},
           Repeated{"", "\n", ""},
           Repeated{"a ", "a", "\n"},
           Repeated{"#version", "a", "\n"},
           Repeated{"", " ", ""},
       })
    for (const std::size_t size : {5'000UL, 150'000UL, 1'000'000UL}) {
      CAPTURE(input.begin);
      CAPTURE(input.unit);
      CHECK(allocated(input.text(size), read) < 20 * static_cast<Index>(size));
    }
}

}  // namespace tapehead
