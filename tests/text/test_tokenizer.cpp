#include "tapehead/text/tokenizer.h"

#include <algorithm>
#include <cstdint>

#include "support/byte_pairs.h"
#include "support/folder.h"
#include "support/testing.h"
#include "tapehead/text/character_tokenizer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Ids = std::vector<std::int32_t>;

BytePairs small_pairs() {
  BytePairs pairs;
  pairs.merge("a", "b");
  pairs.tokens.emplace_back(kEndOfText);
  return pairs;
}
constexpr std::int32_t kAb = 256;
constexpr std::int32_t kEnd = 257;
std::int32_t byte(char c) { return 255 - static_cast<unsigned char>(c); }

/// What load_tokenizer says against a folder, or "loaded".
std::string complaint_about(const std::filesystem::path& folder) {
  try {
    load_tokenizer(folder);
    return "loaded";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("the end of a text is one token where that is asked for, and thirteen characters where not") {
  const BytePairTokenizer tokenizer = small_pairs().tokenizer();
  REQUIRE(tokenizer.end_of_text() == kEnd);
  CHECK(tokenizer.encode("ab<|endoftext|>a", Specials::recognised) == Ids{kAb, kEnd, byte('a')});
  CHECK(tokenizer.encode("<|endoftext|><|endoftext|>", Specials::recognised) == Ids{kEnd, kEnd});
  CHECK(tokenizer.encode("<|endoftext|", Specials::recognised).size() == 12);
  const Ids as_text = tokenizer.encode("ab<|endoftext|>a");
  CHECK(as_text.size() == 1 + 13 + 1);
  CHECK(std::find(as_text.begin(), as_text.end(), kEnd) == as_text.end());
  CHECK(tokenizer.decode(as_text) == "ab<|endoftext|>a");
  CHECK(tokenizer.decode(Ids{kAb, kEnd}) == "ab<|endoftext|>");
}

TEST_CASE("words do not reach across the end of a text") {
  const BytePairTokenizer tokenizer = small_pairs().tokenizer();
  CHECK(tokenizer.encode("a<|endoftext|>b", Specials::recognised) == Ids{byte('a'), kEnd, byte('b')});
}

TEST_CASE("where a vocabulary has no end of text, it is text either way") {
  const BytePairTokenizer tokenizer = BytePairs().tokenizer();
  CHECK_FALSE(tokenizer.end_of_text().has_value());
  CHECK(tokenizer.encode("<|endoftext|>", Specials::recognised) == tokenizer.encode("<|endoftext|>"));
}

TEST_CASE("an id that is no token is refused") {
  const BytePairTokenizer pairs = small_pairs().tokenizer();
  const CharacterTokenizer characters = CharacterTokenizer::from_text("ab");
  CHECK(pairs.bytes_of(kAb) == "ab");
  for (const std::int32_t id : {-1, 258, 50260, INT32_MIN, INT32_MAX}) {
    CHECK_THROWS_AS(pairs.bytes_of(id), Error);
    CHECK_THROWS_AS(pairs.decode(Ids{kAb, id}), Error);
    CHECK_THROWS_AS(characters.bytes_of(id), Error);
  }
  CHECK_THROWS_WITH(pairs.bytes_of(258), "[tokenizer] expected a token id from 0 to 257, got 258");
}

TEST_CASE("byte pairs are loaded under either name of either file") {
  const BytePairs pairs = small_pairs();
  for (const char* vocabulary : {"vocab.json", "encoder.json"})
    for (const char* merges : {"merges.txt", "vocab.bpe"}) {
      const Folder folder;
      CHECK_FALSE(is_tokenizer_folder(folder.path()));
      put(folder / vocabulary, pairs.vocabulary_file().text);
      CHECK_FALSE(is_tokenizer_folder(folder.path()));
      put(folder / merges, pairs.merges_file().text);
      CHECK(is_tokenizer_folder(folder.path()));
      const auto tokenizer = load_tokenizer(folder.path());
      CHECK(tokenizer->size() == 258);
      CHECK(tokenizer->encode("ab") == Ids{kAb});
    }
}

TEST_CASE("a tokenizer that is saved is loaded as it was, of either kind") {
  const BytePairTokenizer pairs = small_pairs().tokenizer();
  const CharacterTokenizer characters = CharacterTokenizer::from_text(std::string("\0\n\"\\aé😀", 11));
  for (const Tokenizer* tokenizer : std::initializer_list<const Tokenizer*>{&pairs, &characters}) {
    const Folder folder;
    tokenizer->save(folder.path());
    REQUIRE(is_tokenizer_folder(folder.path()));
    const auto loaded = load_tokenizer(folder.path());
    REQUIRE(loaded->size() == tokenizer->size());
    for (std::int32_t id = 0; id < tokenizer->size(); ++id)
      CHECK(loaded->bytes_of(id) == tokenizer->bytes_of(id));
    CHECK(loaded->end_of_text() == tokenizer->end_of_text());
    CHECK(loaded->encode("aaé") == tokenizer->encode("aaé"));
    CHECK_THROWS_AS(tokenizer->save(folder / "missing"), Error);
  }
}

TEST_CASE("a folder without a tokenizer is refused, saying what was looked for") {
  const Folder folder;
  const std::string start = "[tokenizer] " + folder.path().string();
  CHECK(
      complaint_about(folder.path()) ==
      start +
          " holds no tokenizer: expected vocab.json or encoder.json (not there) with merges.txt or vocab.bpe "
          "(not there), or characters.json (not there)");
  CHECK(complaint_about(folder / "missing").find("holds no tokenizer") != std::string::npos);
  put(folder / "vocab.json", "{}");
  CHECK(
      complaint_about(folder.path()).find("encoder.json (there) with merges.txt or vocab.bpe (not there)") !=
      std::string::npos);
}

TEST_CASE("a folder with two kinds of tokenizers is refused") {
  const Folder folder;
  small_pairs().tokenizer().save(folder.path());
  CharacterTokenizer::from_text("a").save(folder.path());
  CHECK(complaint_about(folder.path()) ==
        "[tokenizer] " + folder.path().string() +
            " holds two tokenizers: byte-pair encoding in vocab.json, characters "
            "in characters.json");
}

TEST_CASE("the faults of a folder's files are told with their paths") {
  const Folder folder;
  put(folder / "characters.json", "[");
  CHECK(complaint_about(folder.path()) ==
        "[tokenizer] " + (folder / "characters.json").string() +
            ": expected a JSON object of tokens and their ids, got an array");
}
