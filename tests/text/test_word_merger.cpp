#include "tapehead/text/word_merger.h"

#include <algorithm>
#include <map>

#include "support/byte_pairs.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Tokens = std::vector<std::string>;

/// Byte-pair encoding as GPT-2's encoder.py has it: find the best pair, join all of its occurrences, start
/// again.
Tokens textbook(const BytePairs& pairs, const std::string& word) {
  std::map<std::pair<std::string, std::string>, std::size_t> rank;
  for (std::size_t i = 0; i < pairs.merges.size(); ++i) rank[pairs.merges[i]] = i;
  Tokens parts;
  for (const char c : word) parts.emplace_back(1, c);
  for (;;) {
    std::size_t best = pairs.merges.size();
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
      if (const auto found = rank.find({parts[i], parts[i + 1]}); found != rank.end())
        best = std::min(best, found->second);
    if (best == pairs.merges.size()) return parts;
    const auto& [left, right] = pairs.merges[best];
    Tokens joined;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool here = i + 1 < parts.size() && parts[i] == left && parts[i + 1] == right;
      joined.push_back(here ? left + right : parts[i]);
      i += here;
    }
    parts = joined;
  }
}

/// A merger with what it refers to.
class Encoder {
 public:
  explicit Encoder(const BytePairs& pairs)
      : tokens_(pairs.tokens), merges_(pairs.merges_file(), Vocabulary(pairs.vocabulary_file())) {
    for (std::size_t byte = 0; byte < 256; ++byte) byte_ids_[byte] = static_cast<std::int32_t>(255 - byte);
  }
  Tokens operator()(const std::string& word) {
    std::vector<std::int32_t> ids;
    merger_.encode(word, ids);
    Tokens tokens;
    for (const std::int32_t id : ids) tokens.push_back(tokens_.at(static_cast<std::size_t>(id)));
    return tokens;
  }

 private:
  Tokens tokens_;
  Merges merges_;
  std::array<std::int32_t, 256> byte_ids_{};
  WordMerger merger_{merges_, byte_ids_};
};

}  // namespace

TEST_CASE("the merge of lowest rank comes first, wherever it is, and then from left to right") {
  BytePairs pairs;
  pairs.merge("b", "c");
  pairs.merge("a", "b");
  pairs.merge("a", "a");
  pairs.merge("aa", "a");
  Encoder encode(pairs);
  CHECK(encode("abc") == Tokens{"a", "bc"});
  CHECK(encode("ab") == Tokens{"ab"});
  CHECK(encode("aaaaa") == Tokens{"aa", "aaa"});
  CHECK(encode("aab") == Tokens{"a", "ab"});
  CHECK(encode("x") == Tokens{"x"});
  CHECK(encode("").empty());
}

TEST_CASE("a product that could merge at once waits until all pairs of the same rank are merged") {
  BytePairs pairs;
  pairs.merge("a", "b");
  pairs.merge("b", "c");
  pairs.merge("a", "bc");
  pairs.merge("abc", "ab");
  pairs.merge("ab", "c");
  Encoder encode(pairs);
  CHECK(encode("abcabc") == Tokens{"abc", "abc"});
  CHECK(encode("abcab") == Tokens{"abcab"});
}

TEST_CASE("random words over random merges are encoded as the textbook does") {
  Generator generator(1);
  for (int round = 0; round < 400; ++round) {
    const std::string characters = round % 2 == 0 ? "ab" : "abcd";
    const BytePairs pairs =
        random_byte_pairs(characters, 4 + static_cast<int>(generator.below(40)), generator);
    Encoder encode(pairs);
    for (int i = 0; i < 50; ++i) {
      const std::string word = random_text(characters, 1 + generator.below(60), generator);
      CAPTURE(word);
      CAPTURE(pairs.merges_file().text);
      REQUIRE(encode(word) == textbook(pairs, word));
    }
  }
}
