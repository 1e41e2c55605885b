#include "tapehead/text/byte_pair_tokenizer.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "support/byte_pairs.h"
#include "support/folder.h"
#include "support/reference.h"
#include "support/testing.h"
#include "tapehead/base/parallel.h"
#include "tapehead/text/gpt2_split.h"
#include "tapehead/text/utf8.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Ids = std::vector<std::int32_t>;

/// "aa", "aaaa", ..., 2^10 times "a", and the same for the space and the byte 0xFF.
BytePairs doublings() {
  BytePairs pairs;
  for (const char byte : {'a', ' ', '\xff'}) {
    std::string run = written_byte(static_cast<unsigned char>(byte));
    for (int i = 0; i < 10; ++i, run += run) pairs.merge(run, run);
  }
  return pairs;
}

/// What is wrong with a vocabulary, without the file's name, or "nothing".
std::string fault(const BytePairs& pairs) {
  try {
    pairs.tokenizer();
    return "nothing";
  } catch (const Error& error) {
    const std::string start = "[tokenizer] ";
    const std::string what = error.what();
    REQUIRE_MESSAGE(what.starts_with(start), what);
    return what.substr(start.size());
  }
}

std::unique_ptr<Tokenizer> gpt2() {
  const auto folder = reference_data("gpt2-tokenizer");
  return folder ? load_tokenizer(*folder) : nullptr;
}

std::string random_bytes(Index length, Generator& generator) {
  std::string bytes;
  for (Index i = 0; i < length; ++i) bytes += static_cast<char>(generator.below(256));
  return bytes;
}

/// The SHA-256 of ids as little-endian 32-bit numbers, by the system's tool.
std::string sha256_of(const Ids& ids) {
  std::string bytes;
  for (const std::int32_t id : ids)
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(id >> shift & 0xFF);
  const Folder folder;
  put(folder / "ids", bytes);
  const std::unique_ptr<FILE, int (*)(FILE*)> tool(
      popen(("sha256sum < " + (folder / "ids").string()).c_str(), "r"), pclose);
  char digest[65] = {};
  REQUIRE(tool != nullptr);
  REQUIRE(std::fread(digest, 1, 64, tool.get()) == 64);
  return digest;
}

}  // namespace

TEST_CASE("text becomes words, words become merged bytes, and the same bytes come back") {
  BytePairs pairs;
  pairs.merge("h", "e");
  pairs.merge("Ġ", "t");
  pairs.merge("Ġt", "he");
  const BytePairTokenizer tokenizer = pairs.tokenizer();
  CHECK(tokenizer.size() == 259);
  CHECK(tokenizer.encode(" the the") == Ids{258, 258});
  CHECK(tokenizer.encode("he t") == Ids{256, 257});
  CHECK(tokenizer.encode("\n") == Ids{255 - '\n'});
  CHECK(tokenizer.encode("").empty());
  CHECK(tokenizer.bytes_of(258) == " the");
  CHECK(tokenizer.bytes_of(255 - '\n') == "\n");
  CHECK(tokenizer.decode(Ids{258, 0, 256}) == " the\xffhe");
}

TEST_CASE("a word that comes again has the same tokens, wherever it stands") {
  Generator generator(1);
  const BytePairTokenizer tokenizer = random_byte_pairs("abcd", 40, generator).tokenizer();
  // More words than are remembered, so that they push each other out.
  Ids expected;
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    const std::string word = ' ' + random_text("abcd", 1 + generator.below(6), generator);
    const Ids ids = tokenizer.encode(word);
    expected.insert(expected.end(), ids.begin(), ids.end());
    text += word;
  }
  CHECK((tokenizer.encode(text) == expected));
}

TEST_CASE("any bytes come back as they were") {
  Generator generator(1);
  const BytePairTokenizer tokenizer = doublings().tokenizer();
  for (int round = 0; round < 200; ++round) {
    const std::string bytes = random_bytes(generator.below(200), generator);
    CHECK(tokenizer.decode(tokenizer.encode(bytes)) == bytes);
    CHECK(tokenizer.decode(tokenizer.encode(bytes, Specials::recognised)) == bytes);
  }
}

TEST_CASE("a megabyte that is one word is encoded whole, and soon") {
  const BytePairTokenizer tokenizer = doublings().tokenizer();
  for (const char c : {'a', ' ', '\xff'}) {
    const std::string text(1 << 20, c);
    const Ids ids = tokenizer.encode(text);
    CHECK(ids.size() == 1024);
    CHECK(ids.front() == ids.back());
    CHECK(tokenizer.bytes_of(ids.front()).size() == 1024);
  }
  CHECK(tokenizer.encode(std::string((1 << 20) - 1, 'a')).size() == 1023 + 10);
}

TEST_CASE("tokens that end within a character are printed without splitting it") {
  const BytePairTokenizer tokenizer = BytePairs().tokenizer();
  const std::string text = "naïve 漢字 👩‍👧";
  Utf8Stream stream;
  std::string printed;
  for (const std::int32_t id : tokenizer.encode(text)) {
    const std::string now = stream.feed(tokenizer.bytes_of(id));
    REQUIRE(find_invalid_utf8(now) == std::string::npos);
    printed += now;
  }
  CHECK(printed == text);
  CHECK(stream.flush().empty());
}

TEST_CASE("several threads may encode at once") {
  Generator generator(1);
  const BytePairTokenizer tokenizer = random_byte_pairs("abcd", 40, generator).tokenizer();
  const std::string text = random_text("abcd ", 20000, generator);
  const Ids expected = tokenizer.encode(text);
  std::vector<Ids> each(8);
  parallel_for(8, 4, [&](Index i) { each[static_cast<std::size_t>(i)] = tokenizer.encode(text); });
  for (const Ids& ids : each) CHECK((ids == expected));
}

TEST_CASE("a vocabulary without one of the bytes is refused") {
  BytePairs pairs;
  pairs.tokens[255 - ' '] = "ab";
  CHECK(fault(pairs) == R"(vocab.json: byte 0x20, written "\u0120", is missing)");
  pairs.tokens.clear();
  CHECK(fault(pairs) == R"(vocab.json: byte 0x00, written "\u0100", is missing)");
}

TEST_CASE("only a token in angle brackets may have characters that stand for no byte") {
  BytePairs pairs;
  pairs.tokens.insert(pairs.tokens.end(), {"<im start>", "<漢>", "<é>", "<s>"});
  CHECK(fault(pairs) == "nothing");
  const BytePairTokenizer tokenizer = pairs.tokenizer();
  CHECK(tokenizer.bytes_of(256) == "<im start>");
  CHECK(tokenizer.bytes_of(257) == "<漢>");
  CHECK(tokenizer.bytes_of(258) == "<\xe9>");
  CHECK(tokenizer.bytes_of(259) == "<s>");
  CHECK(tokenizer.decode(tokenizer.encode("<s>a<漢>", Specials::recognised)) == "<s>a<漢>");
  CHECK(tokenizer.encode("<s>a<漢>", Specials::recognised).size() == 3 + 1 + 5);
  for (const char* token : {"a b", "漢", "<漢", "漢>", "\t"}) {
    BytePairs wrong;
    wrong.tokens.emplace_back(token);
    CHECK(fault(wrong) == "vocab.json: token " + nlohmann::json(token).dump(-1, ' ', true) +
                              " has characters that stand for no byte, and is not special as <...> is");
  }
}

TEST_CASE("merges that were cut are refused: each token that is neither a byte nor special must be made") {
  BytePairs pairs;
  pairs.merge("a", "b");
  pairs.merge("ab", "c");
  CHECK(fault(pairs) == "nothing");
  pairs.tokens.insert(pairs.tokens.end(), {"abcd", "<s>", "abcde"});
  CHECK(fault(pairs) ==
        "merges.txt: no merge makes 2 of the vocabulary's tokens, \"abcd\" the first; is it whole?");
}

TEST_CASE("a merge that would let a text become its end is refused") {
  BytePairs pairs;
  std::string made = "<";
  for (const char c : std::string("|endoftext|>")) {
    pairs.merge(made, std::string(1, c));
    made += c;
  }
  CHECK(fault(pairs) == "merges.txt: a merge makes <|endoftext|>, which no text may become");
}

TEST_CASE("GPT-2's 43 texts of reference have the ids that others agree on") {
  const auto folder = reference_data("gpt2-tokenizer/test_vectors.json");
  const auto tokenizer = gpt2();
  if (!folder || !tokenizer) return;
  const auto vectors = nlohmann::json::parse(text_of(*folder));
  CHECK(vectors.size() == 43);
  for (const auto& vector : vectors) {
    CAPTURE(vector["name"]);
    const auto text = vector["text"].get<std::string>();
    const auto ids = vector["ids"].get<Ids>();
    CHECK((tokenizer->encode(text, Specials::recognised) == ids));
    CHECK(tokenizer->decode(ids) == text);
  }
}

TEST_CASE("GPT-2's blanks, contractions and letters fall where they must") {
  const auto tokenizer = gpt2();
  if (!tokenizer) return;
  const std::vector<std::pair<std::string, Ids>> all{
      {"hello", {31373}},
      {" hello", {23748}},
      {"Hello, my", {15496, 11, 616}},
      {"we'll go", {732, 1183, 467}},
      {"We'LL", {1135, 6, 3069}},
      {"a  b", {64, 220, 275}},
      {"  lead", {220, 1085}},
      {"trail  ", {9535, 346, 220, 220}},
      {"12345 67", {10163, 2231, 8275}},
      {"naïve", {2616, 38776}},
  };
  for (const auto& example : all) {
    CAPTURE(example.first);
    CHECK((tokenizer->encode(example.first) == example.second));
  }
}

TEST_CASE("GPT-2's vocabulary has 50257 tokens, and a row beyond them is none") {
  const auto tokenizer = gpt2();
  if (!tokenizer) return;
  CHECK(tokenizer->size() == 50257);
  CHECK(tokenizer->end_of_text() == 50256);
  CHECK(tokenizer->encode("<|endoftext|>", Specials::recognised) == Ids{50256});
  CHECK(tokenizer->encode("<|endoftext|>") == Ids{27, 91, 437, 1659, 5239, 91, 29});
  CHECK_THROWS_AS(tokenizer->bytes_of(50260), Error);
  CHECK_THROWS_AS(tokenizer->decode(Ids{0, 50257}), Error);
}

TEST_CASE("GPT-2's tokens of Shakespeare are the published ones, id by id") {
  const auto file = reference_data("text/tinyshakespeare.txt");
  const auto tokenizer = gpt2();
  if (!file || !tokenizer) return;
  const std::string text = text_of(*file);
  const Ids ids = tokenizer->encode(text);
  CHECK(ids.size() == 338025);
  CHECK(sha256_of(ids) == "0c00ab83dc7f46665805762aa7688fb7852f03f28c4a5d84061871e85ea7c815");
  CHECK(tokenizer->decode(ids) == text);
  const auto cut = static_cast<std::size_t>(0.9 * static_cast<double>(text.size()));
  CHECK(tokenizer->encode(text.substr(0, cut)).size() == 301966);
  CHECK(tokenizer->encode(text.substr(cut)).size() == 36059);
}

TEST_CASE("GPT-2's tokenizer gives any bytes back, and a megabyte of one byte soon") {
  const auto tokenizer = gpt2();
  if (!tokenizer) return;
  Generator generator(1);
  for (int round = 0; round < 100; ++round) {
    const std::string bytes = random_bytes(generator.below(300), generator);
    CHECK(tokenizer->decode(tokenizer->encode(bytes, Specials::recognised)) == bytes);
  }
  const std::string megabyte = random_bytes(1 << 20, generator);
  CHECK((tokenizer->decode(tokenizer->encode(megabyte)) == megabyte));
  for (const char c : {'a', ' ', '-', '\xff'}) {
    const std::string text(1 << 20, c);
    CHECK((tokenizer->decode(tokenizer->encode(text)) == text));
  }
}

TEST_CASE("GPT-2's tokenizer is the same after it was saved") {
  const auto tokenizer = gpt2();
  if (!tokenizer) return;
  const Folder folder;
  tokenizer->save(folder.path());
  const auto loaded = load_tokenizer(folder.path());
  REQUIRE(loaded->size() == tokenizer->size());
  Index different = 0;
  for (std::int32_t id = 0; id < loaded->size(); ++id)
    different += loaded->bytes_of(id) != tokenizer->bytes_of(id);
  CHECK(different == 0);
  const std::string text = "The Time Traveller smiled at us, naïve café 漢字 123.";
  CHECK(loaded->encode(text) == tokenizer->encode(text));
}
