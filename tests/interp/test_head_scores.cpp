#include "tapehead/interp/head_scores.h"

#include <cmath>
#include <cstring>

#include "support/functions.h"
#include "support/models.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/copying.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// One sequence with period `period`; its targets do not matter here.
Batch sequence_of(const std::vector<std::int32_t>& tokens, Index period) {
  const Index length = static_cast<Index>(tokens.size());
  Batch batch{Tokens(1, length, tokens), Tokens(1, length), Table<Kind>(1, length), Tokens(1, length, -1)};
  for (Index t = period; t < length; ++t) {
    REQUIRE(batch.inputs(0, t) == batch.inputs(0, t - period));
    batch.kinds(0, t) = Kind::induction;
    batch.earlier_copy(0, t) = static_cast<std::int32_t>(t - period);
  }
  return batch;
}

/// `count` distinct tokens repeated to fill `length`: no accidental repeats.
Batch distinct_tokens(Index count, Index length) {
  std::vector<std::int32_t> tokens;
  for (Index t = 0; t < length; ++t) tokens.push_back(static_cast<std::int32_t>(t % count));
  return sequence_of(tokens, count);
}

Batch sampled_batch(Index count = 6) {
  Generator generator(5, Purpose::evaluation);
  return RepeatedSequence({.vocabulary = 16, .length = 20, .period_min = 3, .period_max = 9})
      .sample(generator, count);
}

/// The pattern of a head that puts all its weight on key(sequence, query).
template <class Key>
Tensor pattern_on(const Batch& batch, const Key& key) {
  Tensor weights({batch.size(), 1, batch.length(), batch.length()});
  for (Index b = 0; b < batch.size(); ++b)
    for (Index q = 0; q < batch.length(); ++q) weights(b, 0, q, key(b, q)) = 1;
  return weights;
}

Tensor even_pattern(const Batch& batch) {
  Tensor weights({batch.size(), 1, batch.length(), batch.length()});
  for (Index b = 0; b < batch.size(); ++b)
    for (Index q = 0; q < batch.length(); ++q)
      for (Index k = 0; k <= q; ++k) weights(b, 0, q, k) = static_cast<Real>(1) / static_cast<Real>(q + 1);
  return weights;
}

HeadScores scores_of(const Tensor& weights, const Batch& batch) {
  const std::vector<HeadScores> scores = score_pattern(weights, batch, 0);
  REQUIRE(scores.size() == 1);
  return scores.front();
}

double chance(const Batch& batch, Score score) {
  return chance_scores(batch, 16)[static_cast<std::size_t>(score)];
}

double harmonic(Index n) {
  double total = 0;
  for (Index i = 1; i <= n; ++i) total += 1 / static_cast<double>(i);
  return total;
}

/// Six positions of period three, with the weights of the three diagonals one may mistake for another; what
/// is left of every row is on the query itself.
Tensor three_diagonals() {
  Tensor weights({1, 1, 6, 6});
  const auto set = [&](Index q, Index k, double value) { weights(0, 0, q, k) = static_cast<Real>(value); };
  set(3, 1, 0.9), set(4, 2, 0.8), set(5, 3, 0.7), set(2, 0, 0.1);
  set(3, 0, 0.05), set(4, 1, 0.1), set(5, 2, 0.1);
  set(1, 0, 0.6), set(2, 1, 0.5), set(3, 2, 0.03), set(4, 3, 0.05), set(5, 4, 0.1);
  for (Index q = 0; q < 6; ++q) {
    double left = 1;
    for (Index k = 0; k < q; ++k) left -= static_cast<double>(weights(0, 0, q, k));
    set(q, q, left);
  }
  return weights;
}

bool same_scores(const std::vector<HeadScores>& a, const std::vector<HeadScores>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].layer != b[i].layer || a[i].head != b[i].head ||
        std::memcmp(a[i].values.data(), b[i].values.data(), sizeof(ScoreValues)) != 0)
      return false;
  return true;
}

}  // namespace

TEST_CASE("a perfect head scores exactly 1") {
  const Batch batch = sampled_batch();
  const auto previous = [](Index, Index q) { return q == 0 ? 0 : q - 1; };
  CHECK(scores_of(pattern_on(batch, previous), batch)[Score::previous_token] == 1);
  const auto current = [](Index, Index q) { return q; };
  CHECK(scores_of(pattern_on(batch, current), batch)[Score::current_token] == 1);
  const auto first = [](Index, Index) { return Index{0}; };
  CHECK(scores_of(pattern_on(batch, first), batch)[Score::first_token] == 1);
  const auto copy = [&](Index b, Index q) {
    return batch.earlier_copy(b, q) < 0 ? q : Index{batch.earlier_copy(b, q)};
  };
  CHECK(scores_of(pattern_on(batch, copy), batch)[Score::duplicate_token] == 1);
  const auto after_copy = [&](Index b, Index q) {
    return batch.earlier_copy(b, q) < 0 ? q : Index{batch.earlier_copy(b, q) + 1};
  };
  const HeadScores induction_head = scores_of(pattern_on(batch, after_copy), batch);
  CHECK(induction_head[Score::induction] == 1);
  CHECK(induction_head[Score::prefix_matching] == 1);
}

TEST_CASE("a perfect head of one kind scores 0 as another kind, where the two never meet") {
  const Batch batch = distinct_tokens(5, 20);
  const auto back = [](Index distance) {
    return [distance](Index, Index q) { return q < distance ? q : q - distance; };
  };
  // Five back is the copy, four back what followed it; six back is neither.
  const HeadScores duplicate = scores_of(pattern_on(batch, back(5)), batch);
  CHECK(duplicate[Score::duplicate_token] == 1);
  CHECK(duplicate[Score::induction] == 0);
  CHECK(duplicate[Score::prefix_matching] == 0);
  CHECK(duplicate[Score::previous_token] == 0);
  const HeadScores induction = scores_of(pattern_on(batch, back(4)), batch);
  CHECK(induction[Score::induction] == 1);
  CHECK(induction[Score::duplicate_token] == 0);
  const HeadScores neither = scores_of(pattern_on(batch, back(6)), batch);
  CHECK(neither[Score::induction] == 0);
  CHECK(neither[Score::duplicate_token] == 0);
}

TEST_CASE("a head that attends evenly scores exactly the chance level of every score") {
  for (const Batch& batch : {sampled_batch(), distinct_tokens(3, 12), distinct_tokens(1, 6)}) {
    const HeadScores scores = scores_of(even_pattern(batch), batch);
    const ScoreValues chances = chance_scores(batch, 16);
    for (std::size_t i = 0; i < kScores.size(); ++i) {
      CAPTURE(std::string(kScores[i].name));
      if (kScores[i].score == Score::copying) continue;
      // A weight such as 1/3 is rounded to a Real, and so is nothing else.
      CHECK(scores.values[i] == doctest::Approx(chances[i]).epsilon(sizeof(Real) == 8 ? 1e-14 : 1e-7));
    }
  }
}

TEST_CASE("chance levels are those of the definitions") {
  const Batch batch = distinct_tokens(16, 64);
  CHECK(chance(batch, Score::previous_token) == doctest::Approx((harmonic(64) - 1) / 63).epsilon(1e-12));
  CHECK(std::abs(chance(batch, Score::previous_token) - 0.0594) < 5e-5);
  CHECK(chance(batch, Score::current_token) == doctest::Approx(harmonic(64) / 64).epsilon(1e-12));
  CHECK(chance(batch, Score::first_token) == doctest::Approx(harmonic(64) / 64).epsilon(1e-12));
  // Query q has q / 16 (rounded down) earlier copies among its q + 1 keys, and as many positions after one.
  double expected = 0;
  for (Index q = 16; q < 64; ++q) expected += static_cast<double>(q / 16) / static_cast<double>(q + 1) / 48;
  CHECK(chance(batch, Score::duplicate_token) == doctest::Approx(expected).epsilon(1e-12));
  CHECK(chance(batch, Score::induction) == doctest::Approx(expected).epsilon(1e-12));
  CHECK(chance(batch, Score::prefix_matching) == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("the induction score is read at period - 1, on induction queries alone") {
  const Batch batch = distinct_tokens(3, 6);
  const HeadScores scores = scores_of(three_diagonals(), batch);
  const auto near = [](double value) { return doctest::Approx(value).epsilon(1e-6); };
  CHECK(scores[Score::induction] == near(0.8));  // 0.625 with the first copy's cell
  CHECK(scores[Score::prefix_matching] == near(0.8));
  CHECK(scores[Score::duplicate_token] == near(0.25 / 3));
  CHECK(scores[Score::previous_token] == near(1.28 / 5));
  CHECK(scores[Score::first_token] == near((1 + 0.6 + 0.1 + 0.05) / 6));
  CHECK(scores[Score::current_token] == near((1 + 0.4 + 0.4 + 0.02 + 0.05 + 0.1) / 6));
}

TEST_CASE("the weights on several copies are summed") {
  const Batch batch = distinct_tokens(2, 6);
  Tensor weights({1, 1, 6, 6});
  weights(0, 0, 5, 4) = Real{0.125};  // after the copy one period back
  weights(0, 0, 5, 2) = Real{0.25};   // after the one two periods back
  weights(0, 0, 5, 3) = Real{0.0625};
  weights(0, 0, 5, 1) = Real{0.5};
  weights(0, 0, 5, 0) = Real{0.03125};
  const HeadScores scores = scores_of(weights, batch);
  CHECK(scores[Score::induction] == 0.375 / 4);
  CHECK(scores[Score::prefix_matching] == 0.375 / 4);
  CHECK(scores[Score::duplicate_token] == 0.5625 / 4);
}

TEST_CASE("accidental repeats count in prefix matching and duplicate token, not in induction") {
  // Token 7 stands at 0 and 2 of the segment; for the query at 4 only 0 is a copy by repetition.
  const Batch batch = sequence_of({7, 1, 7, 3, 7}, 4);
  Tensor weights({1, 1, 5, 5});
  weights(0, 0, 4, 0) = Real{0.5};
  weights(0, 0, 4, 1) = Real{0.25};
  weights(0, 0, 4, 2) = Real{0.125};
  weights(0, 0, 4, 3) = Real{0.0625};
  const HeadScores scores = scores_of(weights, batch);
  CHECK(scores[Score::induction] == 0.25);
  CHECK(scores[Score::prefix_matching] == 0.3125);
  CHECK(scores[Score::duplicate_token] == 0.625);
}

TEST_CASE("without an induction query the scores of repeats are not a number, and the others are") {
  Batch batch = sequence_of({1, 1, 2}, 3);
  for (const ScoreValues& values : {scores_of(even_pattern(batch), batch).values, chance_scores(batch, 16)})
    for (std::size_t i = 0; i < kScores.size(); ++i) {
      CAPTURE(std::string(kScores[i].name));
      const bool of_repeats = kScores[i].score >= Score::duplicate_token;
      if (kScores[i].score != Score::copying) CHECK(std::isnan(values[i]) == of_repeats);
    }
  // One position has no previous one either.
  batch = sequence_of({1}, 1);
  CHECK(std::isnan(chance(batch, Score::previous_token)));
  CHECK(chance(batch, Score::current_token) == 1);
}

TEST_CASE("scores are means over sequences and queries, head by head") {
  const Batch batch = sampled_batch(2);
  const Tensor one = pattern_on(batch, [](Index, Index q) { return q; });
  Tensor weights({2, 3, 20, 20});
  // Head 1 looks at itself in the second sequence alone, head 2 in both, head 0 nowhere.
  for (Index q = 0; q < 20; ++q) {
    weights(1, 1, q, q) = 1;
    weights(0, 2, q, q) = one(0, 0, q, q);
    weights(1, 2, q, q) = one(1, 0, q, q);
  }
  const std::vector<HeadScores> scores = score_pattern(weights, batch, 4);
  REQUIRE(scores.size() == 3);
  for (Index head = 0; head < 3; ++head) {
    const HeadScores& head_scores = scores[static_cast<std::size_t>(head)];
    CHECK(head_scores.layer == 4);
    CHECK(head_scores.head == head);
    CHECK(head_scores[Score::current_token] == static_cast<double>(head) / 2);
  }
}

TEST_CASE("a pattern that does not belong to the batch is an error") {
  const Batch batch = distinct_tokens(3, 6);
  for (const Shape& shape : {Shape{2, 1, 6, 6}, Shape{1, 1, 6, 5}, Shape{1, 1, 7, 7}, Shape{1, 6, 6}})
    CHECK_THROWS_WITH_AS(score_pattern(Tensor(shape), batch, 0),
                         doctest::Contains("expected a pattern (1, H, 6, 6)"), Error);
}

TEST_CASE("the scores of a model are those of its recorded patterns, layer by layer") {
  ModelConfig config = attention_only();
  config.vocabulary = 16;
  config.context = 20;
  const Transformer model = random_model(config);
  const Batch batch = sampled_batch(7);
  Recorder recorder({pattern(0), pattern(1)});
  evaluate(model, batch, {recorder});
  std::vector<HeadScores> expected;
  for (const Index layer : {0, 1})
    for (const HeadScores& head : score_pattern(recorder.at(pattern(layer)), batch, layer))
      expected.push_back(head);
  REQUIRE(expected.size() == 4);
  HeadScorer scorer(config, batch);
  for (const Index shard : {7, 1, 3}) {
    evaluate(model, batch, {scorer}, {.shard = shard});
    CHECK(same_scores(scorer.scores(), expected));  // copying is not a number
  }
  const std::vector<double> copying = copying_scores(model);
  for (std::size_t i = 0; i < 4; ++i)
    expected[i].values[static_cast<std::size_t>(Score::copying)] = copying[i];
  CHECK_FALSE(same_scores({expected[0]}, {expected[1]}));
  CHECK(same_scores(score_heads(model, batch), expected));
  CHECK(same_scores(score_heads(model, batch, {.threads = 3}), expected));
  CHECK(same_scores(scorer.scores(copying), expected));
  CHECK_THROWS_WITH_AS(scorer.scores({copying.data(), 3}),
                       doctest::Contains("a copying score for each of 4 heads, got 3"), Error);
}

TEST_CASE("scores are given of a whole batch, and of the batch and model they were asked for") {
  ModelConfig config = attention_only();
  config.vocabulary = 16;
  config.context = 20;
  const Batch batch = sampled_batch(4);
  HeadScorer scorer(config, batch);
  CHECK_THROWS_WITH_AS(scorer.scores(), doctest::Contains("expected an evaluation of all 4 sequences"),
                       Error);
  const Transformer model = random_model(config);
  evaluate(model, batch.rows(0, 3), {scorer});
  CHECK_THROWS_WITH_AS(scorer.scores(), doctest::Contains("expected an evaluation of all 4 sequences"),
                       Error);
  CHECK_THROWS_WITH_AS(evaluate(model, sampled_batch(5), {scorer}),
                       doctest::Contains("expected patterns of the batch (4, 2, 20, 20)"), Error);
  config.layers = 1;
  CHECK_THROWS_WITH_AS(evaluate(random_model(config), batch, {scorer}),
                       doctest::Contains("expected a model of 2 layers of 2 heads, got 1 of 2"), Error);
  HeadScorer none({.vocabulary = 16, .context = 20, .layers = 0}, batch);
  CHECK(none.scores().empty());
}

TEST_CASE("a model whose queries are zero scores the chance level in every head") {
  ModelConfig config = attention_only();
  config.vocabulary = 16;
  config.context = 20;
  Transformer model(config, 1);
  set_to_zero(model);
  const Batch batch = sampled_batch();
  const ScoreValues chances = chance_scores(batch, 16);
  for (const HeadScores& head : score_heads(model, batch))
    for (std::size_t i = 0; i < chances.size(); ++i)
      CHECK(head.values[i] == doctest::Approx(chances[i]).epsilon(1e-6));
}
