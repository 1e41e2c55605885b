#include "tapehead/nn/attention_scores.h"

#include <algorithm>
#include <cmath>

#include "support/modules.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/sinusoids.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::random_tensor;
using testing::same_bits;

/// Two heads of 4, with parameters that are no longer what they started from.
struct Shaken {
  Parameters parameters;
  AttentionScores scores;

  explicit Shaken(const ScoringConfig& config) : scores(Scope(parameters), 8, 2, 6, config) {
    parameters.initialise(1);
    testing::shake(parameters);
  }
  Variable value(const char* name) const { return constant(parameters.find(name)); }
  Tensor pattern(const Variable& q, const Variable& k, const AttentionMask& mask = {}) const {
    return scores.pattern(Pass(), q, k, mask).value();
  }
};

const Variable kQueries(random_tensor({2, 5, 8}, 1));
const Variable kKeys(random_tensor({2, 5, 8}, 2));

}  // namespace

TEST_CASE("plain scores have no parameters, and give the plain pattern") {
  const Shaken plain({});
  CHECK(plain.parameters.count() == 0);
  CHECK(same_bits(plain.pattern(kQueries, kKeys), attention_pattern(kQueries, kKeys, 2).value()));
}

TEST_CASE("scores that are not scaled are sqrt(D) times as large") {
  const Shaken raw({.scaled = false});
  CHECK(same_bits(raw.pattern(kQueries, kKeys),
                  attention_pattern(kQueries, kKeys, 2, {}, {.scale = 1}).value()));
  check_close(raw.pattern(kQueries, kKeys), attention_pattern(scale(kQueries, 2), kKeys, 2).value());
}

TEST_CASE("every option registers its parameters, and starts as it says") {
  Parameters parameters;
  AttentionScores bilinear(Scope(parameters) / "a", 8, 2, 6, {.form = ScoreForm::bilinear});
  AttentionScores additive(Scope(parameters) / "b", 8, 2, 6, {.form = ScoreForm::additive});
  AttentionScores others(Scope(parameters) / "c", 8, 2, 6, {.query_key_norm = true, .smeared_keys = true});
  CHECK(testing::listing_of(parameters) ==
        "a.bilinear (8, 4) 32\n"
        "b.additive (2, 4) 8\n"
        "c.smear (2) 2\n"
        "c.query_norm.gain (4) 4\n"
        "c.key_norm.gain (4) 4\n");
  parameters.initialise(1);
  CHECK(parameters.entries()[0].start.deviation == 0.5);
  CHECK(parameters.entries()[1].start.deviation == 0.5);
  check_close(constant(parameters.find("c.smear")).value(), {2}, {0, 0}, 0);
  check_close(constant(parameters.find("c.key_norm.gain")).value(), {4}, {1, 1, 1, 1}, 0);
}

TEST_CASE("bilinear scores are products through a matrix of each head") {
  const Shaken shaken({.form = ScoreForm::bilinear});
  const Variable q = head_linear(kQueries, shaken.value("bilinear"));
  CHECK(same_bits(shaken.pattern(kQueries, kKeys), attention_pattern(q, kKeys, 2).value()));
}

TEST_CASE("additive scores are weighed as they are, and hide what the masks hide") {
  const Shaken shaken({.form = ScoreForm::additive});
  const Mask visible(2, 5, {1, 1, 1, 1, 1, 0, 1, 1, 0, 1});
  const Tensor p = shaken.pattern(kQueries, kKeys, {.visible = visible});
  const Tensor scores = additive_scores(kQueries, kKeys, shaken.value("additive"), true).value();
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 2; ++h)
      for (Index i = 0; i < 5; ++i) {
        double total = 0;
        for (Index j = 0; j <= i; ++j)
          if (visible(b, j) != 0) total += std::exp(static_cast<double>(scores(b, h, i, j)));
        for (Index j = 0; j < 5; ++j) {
          const bool seen = j <= i && visible(b, j) != 0;
          const double expected = seen ? std::exp(static_cast<double>(scores(b, h, i, j))) / total : 0;
          CHECK(static_cast<double>(p(b, h, i, j)) == doctest::Approx(expected).epsilon(1e-5));
        }
      }
}

TEST_CASE("normalised queries and keys have scores that their size does not change") {
  const Shaken shaken({.query_key_norm = true});
  const Tensor p = shaken.pattern(kQueries, kKeys);
  check_close(shaken.pattern(scale(kQueries, 1000), scale(kKeys, 1000)), p, 1e-4);
  // At a gain of 1 every head's query and key has the norm sqrt(D), so that scores are at most sqrt(D).
  Parameters parameters;
  const AttentionScores fresh(Scope(parameters), 8, 2, 6, {.query_key_norm = true});
  parameters.initialise(1);
  const Tensor same = fresh.pattern(Pass(), scale(kQueries, 1000), scale(kQueries, 1000), {}).value();
  const double least = std::exp(2.0) / (std::exp(2.0) + 4 * std::exp(2.0));
  for (Index i = 0; i < 5; ++i) CHECK(static_cast<double>(same(0, 0, i, i)) >= least - 1e-4);
}

TEST_CASE("smeared keys are mixed before anything else becomes of them") {
  const Shaken shaken({.query_key_norm = true, .smeared_keys = true});
  const Variable smeared = smear(kKeys, shaken.value("smear"));
  Shaken unsmeared({.query_key_norm = true});
  for (const char* name : {"query_norm.gain", "key_norm.gain"}) {
    const Parameter from = shaken.parameters.find(name);
    std::copy_n(from.data(), 4,
                unsmeared.parameters.change().begin() + unsmeared.parameters.find(name).offset);
  }
  CHECK(same_bits(shaken.pattern(kQueries, kKeys), unsmeared.pattern(kQueries, smeared)));
}

TEST_CASE("ALiBi takes a slope for each position between query and key off the score") {
  CHECK(alibi_slopes(8) ==
        std::vector<Real>{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625});
  CHECK(alibi_slopes(1) == std::vector<Real>{0.00390625});
  CHECK(alibi_slopes(3) == std::vector<Real>{0.0625, 0.00390625, 0.25});
  const Shaken shaken({.positions = Positions::alibi});
  const Variable nothing(Tensor({1, 3, 8}));
  const Tensor p = shaken.pattern(nothing, nothing);
  for (Index h = 0; h < 2; ++h) {
    const double slope = h == 0 ? 1.0 / 16 : 1.0 / 256;
    const double total = 1 + std::exp(-slope) + std::exp(-2 * slope);
    for (Index j = 0; j < 3; ++j)
      CHECK(static_cast<double>(p(0, h, 2, j)) ==
            doctest::Approx(std::exp(-slope * static_cast<double>(2 - j)) / total).epsilon(1e-6));
  }
}

TEST_CASE("rotary positions turn queries and keys, those that are read on by their place in the text") {
  const Shaken shaken({.positions = Positions::rotary});
  const Variable angles(sinusoids(5, 4));
  const Tensor whole = attention_pattern(rotary(kQueries, angles), rotary(kKeys, angles), 2).value();
  check_close(shaken.pattern(kQueries, kKeys), whole);
  check_close(shaken.pattern(slice(kQueries, 1, 3, 5), kKeys), slice(Variable(whole), 2, 3, 5).value());
}

TEST_CASE("the mix without a pattern is the mix with one, whatever becomes of queries and keys") {
  const Variable v(random_tensor({2, 5, 8}, 3));
  const Mask visible(2, 5, {0, 1, 1, 1, 0, 1, 1, 1, 1, 1});
  for (const ScoringConfig& config :
       {ScoringConfig{}, ScoringConfig{.form = ScoreForm::bilinear, .scaled = false},
        ScoringConfig{.query_key_norm = true, .smeared_keys = true, .positions = Positions::rotary},
        ScoringConfig{.positions = Positions::alibi}}) {
    const Shaken shaken(config);
    for (const AttentionMask& mask : {AttentionMask{}, AttentionMask{.visible = visible}})
      check_close(shaken.scores.mix(Pass(), kQueries, kKeys, v, mask).value(),
                  attention_mix(shaken.scores.pattern(Pass(), kQueries, kKeys, mask), v).value());
  }
}

TEST_CASE("additive scores have no mix without a pattern") {
  const Shaken shaken({.form = ScoreForm::additive});
  CHECK_THROWS_WITH_AS(shaken.scores.mix(Pass(), kQueries, kKeys, kKeys, {}),
                       doctest::Contains("expected a pattern for additive scores"), Error);
}

TEST_CASE("rotary positions are refused where they could not act") {
  Parameters parameters;
  CHECK_THROWS_WITH_AS(AttentionScores(Scope(parameters), 6, 2, 6, {.positions = Positions::rotary}),
                       "[attention] expected heads of an even width for rotary positions, which turn pairs, "
                       "got 3",
                       Error);
  CHECK_THROWS_AS(AttentionScores(Scope(parameters), 8, 2, 6,
                                  {.form = ScoreForm::additive, .positions = Positions::rotary}),
                  Error);
}

}  // namespace tapehead
