#include "tapehead/report/attention_figure.h"

#include <set>

#include "report/drawing.h"
#include "support/byte_pairs.h"
#include "support/testing.h"
#include "tapehead/base/require.h"
#include "tapehead/text/character_tokenizer.h"
#include "tapehead/train/trainer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Config small_config(Index vocabulary) {
  Config config;
  config.model.vocabulary = vocabulary;
  config.model.width = 16;
  config.train.evaluation_sequences = 32;
  config.model.context = config.task.length;
  return config;
}

/// What an even head is taken to score, if nothing else is said, is so little that every map has a title.
std::string svg_of_model(const Config& config, const ScoreValues& chance = {-1, -1, -1, -1, -1, -1, -1}) {
  const Transformer model(config.model, 1);
  const Batch batch = evaluation_batch(config);
  const Batch sequence = sequence_to_show(batch);
  return svg_of(attention_figure(
      model, {sequence, token_signs(sequence.inputs, config.model.vocabulary), "sequence 5 of the batch"},
      score_heads(model, batch), chance, config, 300));
}

}  // namespace

TEST_CASE("the sequence to show repeats 8 to 12 different tokens and is at most 24 long") {
  const Batch all = evaluation_batch(small_config(64));
  const Batch batch = sequence_to_show(all);
  CHECK(batch.size() == 1);
  REQUIRE(batch.length() == kMapLength);
  Index period = 1;
  while (batch.inputs(0, period) != batch.inputs(0, 0)) ++period;
  CHECK(period >= 8);
  CHECK(period <= 12);
  for (Index t = 0; t < kMapLength; ++t) {
    CHECK(batch.inputs(0, t) == batch.inputs(0, t % period));
    CHECK(batch.inputs(0, t) == all.inputs(number_to_show(all), t));
    CHECK(batch.kinds(0, t) == (t < period ? Kind::noise : Kind::induction));
  }
}

TEST_CASE("where no sequence repeats well the one that repeats most is shown, and from an empty batch none") {
  Config config = small_config(64);
  config.task.period_min = 16;
  config.task.period_max = 40;
  config.task.length = 48;
  const Batch all = evaluation_batch(config);
  const auto period = [](const Batch& batch, Index b) {
    Index first = 0;
    while (first < batch.length() && batch.kinds(b, first) == Kind::noise) ++first;
    return first;
  };
  Index shortest = all.length();
  for (Index b = 0; b < all.size(); ++b) shortest = std::min(shortest, period(all, b));
  CHECK(period(sequence_to_show(all), 0) == shortest);
  CHECK_THROWS_AS(sequence_to_show(all.rows(0, 0)), Error);
  CHECK(period(all, number_to_show(all)) == shortest);
}

TEST_CASE("tokens of a small vocabulary are single signs, all different, and others are their numbers") {
  Tokens all(1, 64);
  for (Index t = 0; t < 64; ++t) all(0, t) = static_cast<std::int32_t>(t);
  const std::vector<std::string> signs = token_signs(all, 64);
  CHECK(signs[0] == "A");
  CHECK(signs[26] == "a");
  CHECK(signs[61] == "9");
  CHECK(std::set<std::string>(signs.begin(), signs.end()).size() == 64);
  CHECK(token_signs(Tokens(1, 2, {0, 1234}), 5000) == std::vector<std::string>{"0", "1234"});
}

TEST_CASE("tokens of a text are what they say, with blanks and line ends to be seen") {
  const CharacterTokenizer tokenizer = CharacterTokenizer::from_text("a\n é\x01");
  const Tokens tokens(1, 5, tokenizer.encode("é a\n\x01"));
  CHECK(token_signs(tokens, 64, &tokenizer) == std::vector<std::string>{"é", "␣", "a", "↵", "·"});
  const CharacterTokenizer hidden = CharacterTokenizer::from_text("a\u202e\u200d");
  CHECK(token_signs(Tokens(1, 3, hidden.encode("a\u202e\u200d")), 64, &hidden) ==
        std::vector<std::string>{"a", "·", "·"});
  CHECK(token_signs(Tokens(1, 3, hidden.encode("a\u202e\u200d")), 64, &hidden, 24, true) ==
        std::vector<std::string>{"a", "U+202E", "U+200D"});
}

TEST_CASE("an id that a text does not use is its number, so that no sign stands for two tokens") {
  const CharacterTokenizer tokenizer = CharacterTokenizer::from_text("FGHI");
  Tokens all(1, 64);
  for (Index t = 0; t < 64; ++t) all(0, t) = static_cast<std::int32_t>(t);
  const std::vector<std::string> signs = token_signs(all, 64, &tokenizer);
  CHECK(signs[2] == "H");
  CHECK(signs[4] == "#4");
  CHECK(signs[63] == "#63");
  CHECK(std::set<std::string>(signs.begin(), signs.end()).size() == 64);
}

TEST_CASE("a token's text on an axis is no longer than five signs") {
  testing::BytePairs pairs;
  pairs.merge("a", "b");
  pairs.merge("ab", "c");
  pairs.merge("abc", "d");
  pairs.merge("abcd", "e");
  pairs.merge("abcde", "f");
  const BytePairTokenizer tokenizer = pairs.tokenizer();
  for (const auto& [text, sign] : {std::pair("abcde", "abcde"), {"abcdef", "abcd…"}}) {
    const std::vector<std::int32_t> ids = tokenizer.encode(text);
    REQUIRE(ids.size() == 1);
    CHECK(token_signs(Tokens(1, 1, ids), 300, &tokenizer) == std::vector<std::string>{sign});
  }
}

TEST_CASE("a text's figure does not claim that it repeats") {
  Config config = small_config(64);
  Batch batch = sequence_to_show(evaluation_batch(config));
  for (Index t = 0; t < batch.length(); ++t) batch.earlier_copy(0, t) = -1;
  batch.earlier_copy(0, 5) = 1;
  batch.earlier_copy(0, 9) = 7;
  const Transformer model(config.model, 1);
  const std::string svg =
      svg_of(attention_figure(model, {batch, token_signs(batch.inputs, 64), ""},
                              score_heads(model, evaluation_batch(config)), {}, config, 300));
  CHECK_FALSE(contains(svg, "repeats"));
}

TEST_CASE("the attention figure has a map a head with its name and score, and tokens on the axes") {
  const std::string svg = svg_of_model(small_config(64));
  for (const std::string text :
       {"What every head looks at after 300 steps", "layer 0 head 0", "layer 0 head 1", "layer 1 head 0",
        "layer 1 head 1", "query", "key", "attention weight", "the segment of ",
        "sequence 5 of the batch; letters, digits and signs: tokens", "1.00", "first token"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  CHECK_FALSE(contains(svg_of_model(small_config(64), {1, 1, 1, 1, 1, 1, 1}), "first token"));
}

TEST_CASE("the attention figure also holds many heads and a large vocabulary") {
  Config config = small_config(500);
  config.model.layers = 3;
  config.model.heads = 8;
  const std::string svg = svg_of_model(config);
  CHECK(contains(svg, "layer 2 head 7"));
  CHECK_FALSE(contains(svg, "letters, digits and signs"));
}

TEST_CASE("where maps are too small for tokens on their axes the attention figure does not speak of them") {
  Config config = small_config(64);
  config.model.heads = 16;
  const std::string svg = svg_of_model(config);
  CHECK(contains(svg, "layer 1 head 15"));
  CHECK_FALSE(contains(svg, "letters, digits and signs"));
}
