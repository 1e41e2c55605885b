#include "tapehead/text/merge_training.h"

#include <map>

#include "support/byte_pairs.h"
#include "support/folder.h"
#include "support/testing.h"
#include "tapehead/base/require.h"
#include "tapehead/text/byte_alphabet.h"
#include "tapehead/text/byte_pair_tokenizer.h"
#include "tapehead/text/gpt2_split.h"
#include "tapehead/text/utf8.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Words = std::vector<std::string>;

LearntVocabulary learn(const std::string& text, Index vocabulary, bool end_of_text = false) {
  return learn_vocabulary(text, "text", {.vocabulary = vocabulary, .end_of_text = end_of_text});
}

BytePairTokenizer tokenizer_of(const LearntVocabulary& learnt) {
  return {learnt.vocabulary_file(), learnt.merges_file()};
}

std::string repeated(const std::string& word, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += word;
  return text;
}

/// The merges as they are written, with their counts: "es t 9".
Words written(const LearntVocabulary& learnt) {
  Words lines;
  for (const LearntMerge& merge : learnt.merges)
    lines.push_back(learnt.tokens[static_cast<std::size_t>(merge.left)] + " " +
                    learnt.tokens[static_cast<std::size_t>(merge.right)] + " " + std::to_string(merge.count));
  return lines;
}

std::vector<std::string> start_tokens() { return learn("a", 256).tokens; }

std::int32_t id_of(const std::vector<std::string>& tokens, const std::string& token) {
  return static_cast<std::int32_t>(std::find(tokens.begin(), tokens.end(), token) - tokens.begin());
}

/// The definition, without any cleverness: all pairs of all words are counted anew for every merge.
LearntVocabulary by_definition(std::string_view text, Index vocabulary) {
  LearntVocabulary learnt;
  learnt.tokens = start_tokens();
  std::vector<std::vector<std::int32_t>> words;
  while (!text.empty()) {
    const std::string_view word = first_word(text);
    std::vector<std::int32_t>& ids = words.emplace_back();
    for (const char byte : word)
      ids.push_back(id_of(learnt.tokens, written_byte(static_cast<unsigned char>(byte))));
    text.remove_prefix(word.size());
  }
  while (learnt.size() < vocabulary) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> counts;
    for (const auto& word : words)
      for (std::size_t i = 0; i + 1 < word.size(); ++i) ++counts[{word[i], word[i + 1]}];
    if (counts.empty()) break;
    auto best = counts.begin();  // of equals the first: the lowest ids
    for (auto pair = counts.begin(); pair != counts.end(); ++pair)
      if (pair->second > best->second) best = pair;
    const auto [left, right] = best->first;
    learnt.merges.push_back({left, right, best->second});
    const std::string product =
        learnt.tokens[static_cast<std::size_t>(left)] + learnt.tokens[static_cast<std::size_t>(right)];
    const std::int32_t id = id_of(learnt.tokens, product);
    if (id == learnt.size()) learnt.tokens.push_back(product);
    for (auto& word : words)
      for (std::size_t i = 0; i + 1 < word.size(); ++i)
        if (word[i] == left && word[i + 1] == right) {
          word[i] = id;
          word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
  }
  return learnt;
}

std::string random_characters(const Words& characters, Index length, Generator& generator) {
  std::string text;
  for (Index i = 0; i < length; ++i)
    text += characters[static_cast<std::size_t>(generator.below(static_cast<Index>(characters.size())))];
  return text;
}

}  // namespace

TEST_CASE("the words low, lower, newest and widest give the merges that are worked out by hand") {
  // Sennrich et al. 2016: low 5, lower 2, newest 6, widest 3. Pairs, with the space in front of each word:
  // Ġl, lo and ow 7; we 2 + 6; es and st 6 + 3; er 2; Ġn, ne, ew 6; Ġw, wi, id, de 3.
  const std::string text =
      repeated(" low", 5) + repeated(" lower", 2) + repeated(" newest", 6) + repeated(" widest", 3);
  CHECK(written(learn(text, 256 + 12)) == Words{"e s 9", "es t 9", "l o 7", "Ġ lo 7", "Ġlo w 7", "e w 6",
                                                "n ew 6", "Ġ new 6", "Ġnew est 6", "d est 3", "i dest 3",
                                                "w idest 3"});
}

TEST_CASE("of pairs that stand together equally often the one with the lower ids comes first") {
  // By the left token, a, c and then the space, which is byte 220; then by the right one.
  CHECK(written(learn("ab cd", 300)) == Words{"a b 1", "c d 1", "Ġ cd 1"});
  CHECK(written(learn("ac ab", 300)) == Words{"a b 1", "a c 1", "Ġ ab 1"});
}

TEST_CASE("what is learnt is what the definition gives, on any text") {
  Generator generator(1);
  const std::vector<Words> alphabets{{"a", "b"},
                                     {"a", "b", " "},
                                     {"a", "b", "c", " ", "\n", "'s", "1"},
                                     {"ä", "漢", "🙂", " ", "e", "\xcc\x81"},
                                     {"<|endoftext|>", " ", "a", "<", "|", ">"}};
  for (const Words& alphabet : alphabets)
    for (int round = 0; round < 40; ++round) {
      const std::string text = random_characters(alphabet, 1 + generator.below(120), generator);
      CAPTURE(text);
      const LearntVocabulary learnt = learn(text, 256 + 30);
      const LearntVocabulary expected = by_definition(text, 256 + 30);
      CHECK(written(learnt) == written(expected));
      CHECK(learnt.tokens == expected.tokens);
    }
}

TEST_CASE("a pair that overlaps with itself is counted at each place, and merged from left to right") {
  CHECK(written(learn("aaa", 300)) == Words{"a a 2", "aa a 1"});
  CHECK(written(learn("aaaa", 300)) == Words{"a a 3", "aa aa 1"});
  const LearntVocabulary learnt = learn(std::string(1 << 10, 'a'), 300);
  CHECK(learnt.merges.size() == 10);
  CHECK(learnt.merges[1].count == 511);
  CHECK(learnt.tokens.back().size() == 1024);
}

TEST_CASE("the bytes come first, with the ids that they have in GPT-2's vocabulary") {
  const std::vector<std::string> tokens = start_tokens();
  REQUIRE(tokens.size() == 256);
  CHECK(tokens[0] == "!");
  CHECK(tokens[93] == "~");
  CHECK(tokens[94] == "¡");
  CHECK(tokens[187] == "ÿ");
  CHECK(id_of(tokens, "Ċ") == 198);
  CHECK(id_of(tokens, "Ġ") == 220);
}

TEST_CASE("merges end early when every word is one token, and never cross a word") {
  const LearntVocabulary learnt = learn("the cat, the cat", 1000);
  CHECK(learnt.words == 5);
  CHECK(learnt.distinct_words == 4);
  CHECK(learnt.size() < 280);
  const BytePairTokenizer tokenizer = tokenizer_of(learnt);
  CHECK(tokenizer.encode("the cat, the cat").size() == 5);
  for (const std::string& token : learnt.tokens) CHECK(token.find("Ġ", 1) == std::string::npos);
}

TEST_CASE("the last token is the end of a text where it is asked for, and no text becomes it") {
  const std::string text = repeated("<|endoftext|> and <|endoftext|>", 9);
  const LearntVocabulary learnt = learn(text, 266, true);
  CHECK(learnt.size() == 266);
  CHECK(learnt.tokens.back() == "<|endoftext|>");
  const BytePairTokenizer tokenizer = tokenizer_of(learnt);
  REQUIRE(tokenizer.end_of_text() == 265);
  for (const std::int32_t id : tokenizer.encode(text)) CHECK(id != 265);
  CHECK(tokenizer.encode("<|endoftext|>", Specials::recognised) == std::vector<std::int32_t>{265});
  CHECK(learn(text, 266).merges.size() == 10);
  CHECK_FALSE(tokenizer_of(learn(text, 266)).end_of_text().has_value());
}

TEST_CASE("a vocabulary learnt from one text writes every other, and its files come back as they were") {
  Generator generator(2);
  const std::string text = repeated("In the beginning was the Word, and the Word was with — 漢字. ", 20);
  const LearntVocabulary learnt = learn(text, 280);
  CHECK(learnt.size() == 280);
  const Folder folder;
  tokenizer_of(learnt).save(folder.path());
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(folder.path());
  CHECK(text_of(folder / "vocab.json") == learnt.vocabulary_file().text);
  CHECK(text_of(folder / "merges.txt") == learnt.merges_file().text);
  CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
  CHECK(tokenizer->encode(text).size() < text.size() / 2);
  for (int round = 0; round < 100; ++round) {
    std::string bytes;
    for (Index i = 0; i < 50; ++i) bytes += static_cast<char>(generator.below(256));
    CHECK(tokenizer->decode(tokenizer->encode(bytes)) == bytes);
  }
}

TEST_CASE("a byte-order mark is no part of a text") {
  CHECK(learn("\xEF\xBB\xBFthe the", 300).tokens == learn("the the", 300).tokens);
  CHECK_THROWS_AS(learn("\xEF\xBB\xBF", 300), UsageError);
}

TEST_CASE("a megabyte that is one word of few letters is learnt from, and soon") {
  Generator generator(3);
  const std::string text = random_text("acgt", 1 << 20, generator);
  const LearntVocabulary learnt = learn(text, 1024);
  CHECK(learnt.size() == 1024);
  CHECK(tokenizer_of(learnt).decode(tokenizer_of(learnt).encode(text)) == text);
}

TEST_CASE("what no vocabulary can be learnt from is refused in words") {
  CHECK_THROWS_WITH_AS(
      learn("a", 255),
      doctest::Contains("expected a vocabulary of 256 tokens or more, got 255: the 256 bytes"), UsageError);
  CHECK_THROWS_WITH_AS(learn("a", 256, true), doctest::Contains("257 tokens or more, got 256"), UsageError);
  CHECK_THROWS_WITH_AS(learn("a", 1'000'001),
                       "[tokenizer] expected a vocabulary of 1000000 tokens or fewer, got 1000001",
                       UsageError);
  CHECK_THROWS_AS(learn("a", -1), UsageError);
  CHECK_THROWS_WITH_AS(learn("", 300), "[tokenizer] text is empty", UsageError);
  CHECK_THROWS_WITH_AS(learn("abc\xff", 300),
                       doctest::Contains("text: expected UTF-8, got the byte 0xff at offset 3"), Error);
}
