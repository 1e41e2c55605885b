#include "tapehead/interp/composition.h"

#include <cmath>

#include "support/models.h"
#include "support/tokens_model.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

HeadWeights random_head(Index width, Index head_width, std::uint64_t seed) {
  return {0,
          0,
          random_tensor({width, head_width}, seed),
          random_tensor({width, head_width}, seed + 100),
          random_tensor({width, head_width}, seed + 200),
          random_tensor({head_width, width}, seed + 300)};
}

Tensor dense(const Tensor& a, const Tensor& b, bool transposed = false) {
  const Index inner = a.shape()[1];
  Tensor c({a.shape()[0], transposed ? b.shape()[0] : b.shape()[1]});
  for (Index i = 0; i < c.shape()[0]; ++i)
    for (Index j = 0; j < c.shape()[1]; ++j)
      for (Index k = 0; k < inner; ++k) c(i, j) += a(i, k) * (transposed ? b(j, k) : b(k, j));
  return c;
}

double frobenius(const Tensor& x) {
  double squares = 0;
  for (const Real value : x.values()) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

/// The score from matrices as large as the model is wide.
double dense_score(const HeadWeights& earlier, const HeadWeights& later, Composition how) {
  const Tensor a = dense(earlier.value, earlier.output);
  const Tensor b = how == Composition::queries ? dense(later.query, later.key, true)
                   : how == Composition::keys  ? dense(later.key, later.query, true)
                                               : dense(later.value, later.output);
  return frobenius(dense(a, b)) / (frobenius(a) * frobenius(b));
}

/// A head of width 1 whose matrices are these vectors.
ComposingHead thin_head(std::initializer_list<Real> query, std::initializer_list<Real> key,
                        std::initializer_list<Real> value, std::initializer_list<Real> output) {
  return ComposingHead(
      {0, 0, Tensor({2, 1}, query), Tensor({2, 1}, key), Tensor({2, 1}, value), Tensor({1, 2}, output)});
}

double score(const ComposingHead& earlier, const ComposingHead& later, std::size_t how) {
  return composition_score(earlier, later, static_cast<Composition>(how));
}

}  // namespace

TEST_CASE("the composition score is that of the large matrices, by queries, keys and values") {
  for (const Index head_width : {1, 3, 6}) {
    const HeadWeights earlier = random_head(6, head_width, 1);
    const HeadWeights later = random_head(6, head_width, 2);
    std::vector<double> scores;
    for (const Composition how : {Composition::queries, Composition::keys, Composition::values}) {
      scores.push_back(composition_score(ComposingHead(earlier), ComposingHead(later), how));
      CHECK(scores.back() == doctest::Approx(dense_score(earlier, later, how)).epsilon(kRounding));
    }
    CHECK(scores[0] != scores[1]);
    CHECK(scores[1] != scores[2]);
  }
}

TEST_CASE("a head that reads only what another writes composes with 1, one that reads across it with 0") {
  // What the earlier head writes goes along the second axis.
  const ComposingHead earlier = thin_head({1, 0}, {1, 0}, {1, 2}, {0, 3});
  const ComposingHead by_keys = thin_head({1, 0}, {0, 1}, {1, 0}, {1, 1});
  CHECK(score(earlier, by_keys, 0) == 0);
  CHECK(score(earlier, by_keys, 1) == doctest::Approx(1).epsilon(1e-6));
  CHECK(score(earlier, by_keys, 2) == 0);
  const ComposingHead by_values = thin_head({1, 0}, {1, 0}, {0, 2}, {1, 1});
  CHECK(score(earlier, by_values, 1) == 0);
  CHECK(score(earlier, by_values, 2) == doctest::Approx(1).epsilon(1e-6));
  // Half of its square.
  const ComposingHead slanted = thin_head({1, 1}, {1, 0}, {1, 0}, {1, 0});
  CHECK(score(earlier, slanted, 0) == doctest::Approx(std::sqrt(0.5)).epsilon(1e-6));
  // With a head of nothing there is no score.
  CHECK(std::isnan(score(earlier, thin_head({0, 0}, {1, 0}, {1, 0}, {1, 0}), 1)));
  CHECK(std::isnan(score(thin_head({1, 0}, {1, 0}, {1, 0}, {0, 0}), by_keys, 1)));
}

TEST_CASE("random matrices score about one over the root of the width") {
  for (const auto& [width, head_width] : {std::array<Index, 2>{64, 32}, {64, 8}, {16, 4}}) {
    const Baseline baseline = composition_baseline(width, head_width);
    CHECK(baseline.mean == doctest::Approx(1 / std::sqrt(static_cast<double>(width))).epsilon(0.06));
    CHECK(baseline.spread > 0);
    CHECK(baseline.spread < 0.3 * baseline.mean);
    CHECK(composition_baseline(width, head_width).mean == baseline.mean);
  }
  // Heads as the baseline's lie within its spread.
  const Baseline baseline = composition_baseline(32, 8);
  double mean = 0;
  for (std::uint64_t i = 0; i < 20; ++i)
    mean +=
        dense_score(random_head(32, 8, 2 * i + 1000), random_head(32, 8, 2 * i + 1001), Composition::values) /
        20;
  CHECK(std::abs(mean - baseline.mean) < baseline.spread);
}

TEST_CASE("the K-composition score of a head is the largest with any earlier head, and none in layer 0") {
  for (ModelConfig config : {attention_only(), everything_on()}) {
    config.layers = 3;
    const Transformer model = random_model(config);
    const std::vector<HeadWeights> heads = all_head_weights(model);
    const std::vector<double> scores = k_composition_scores(model);
    REQUIRE(scores.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
      CAPTURE(i);
      double largest = -1;
      for (std::size_t j = 0; heads[j].layer < heads[i].layer; ++j)
        largest = std::max(largest, dense_score(heads[j], heads[i], Composition::keys));
      if (i < 2)
        CHECK(std::isnan(scores[i]));
      else
        CHECK(scores[i] == doctest::Approx(largest).epsilon(kRounding));
    }
    const std::vector<double> again = k_composition_scores(model, 3);
    CHECK(std::equal(scores.begin() + 2, scores.end(), again.begin() + 2));
  }
}

TEST_CASE("K-composition in tokens compares the diagonal with the rest, and counts rows it leads") {
  const Tensor tokens = random_tensor({5, 6}, 9);
  const HeadWeights earlier = random_head(6, 3, 1);
  const HeadWeights later = random_head(6, 3, 2);
  const Tensor whole = dense(dense(tokens, later.query),
                             dense(dense(dense(tokens, earlier.value), earlier.output), later.key), true);
  double diagonal = 0;
  double rest = 0;
  double led = 0;
  for (Index i = 0; i < 5; ++i) {
    bool leads = true;
    for (Index j = 0; j < 5; ++j) {
      (i == j ? diagonal : rest) += static_cast<double>(whole(i, j)) / std::sqrt(3.0);
      if (i != j && whole(i, j) >= whole(i, i)) leads = false;
    }
    led += leads ? 0.2 : 0;
  }
  const TokenComposition found = token_composition(earlier, later, tokens);
  CHECK(found.difference == doctest::Approx(diagonal / 5 - rest / 20).epsilon(10 * kRounding));
  CHECK(found.top1 == doctest::Approx(led).epsilon(1e-12));
}

TEST_CASE("a circuit that finds the same token has the identity in tokens, one of nothing finds none") {
  Transformer model = token_model(4, 1, 2);
  const Tensor tokens = parameter_value(model, "embedding.weight");
  const TokenComposition none =
      token_composition(head_weights(model, 0, 0), head_weights(model, 1, 0), tokens);
  CHECK(none.difference == 0);
  CHECK(none.top1 == 0);
  set_identity(model, "blocks.1.attention.qkv.weight", 3, 0);
  set_identity(model, "blocks.1.attention.qkv.weight", 1, 1);
  const TokenComposition perfect =
      token_composition(head_weights(model, 0, 0), head_weights(model, 1, 0), tokens);
  CHECK(perfect.difference == 1.5);  // 3 / sqrt(4)
  CHECK(perfect.top1 == 1);
  CHECK(std::isnan(
      token_composition(head_weights(model, 0, 0), head_weights(model, 1, 0), Tensor({1, 4}, {1, 0, 0, 0}))
          .difference));
}
