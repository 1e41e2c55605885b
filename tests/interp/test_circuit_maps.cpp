#include "tapehead/interp/circuit_maps.h"

#include <algorithm>
#include <cmath>

#include "support/models.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

constexpr Index kVocabulary = 7;
constexpr Index kContext = 6;

Transformer some_model(NormKind norm = NormKind::none) {
  return random_model(
      {.vocabulary = kVocabulary, .context = kContext, .width = 8, .heads = 2, .layers = 3, .norm = norm});
}

const CircuitMap& find(const CircuitMaps& maps, CircuitMapKind kind, Index layer, Index head) {
  const auto found = std::ranges::find_if(maps.maps, [&](const CircuitMap& map) {
    return map.kind == kind && map.layer == layer && map.head == head;
  });
  REQUIRE(found != maps.maps.end());
  return *found;
}

/// Of maps that are gone at once.
const CircuitMap& find(CircuitMaps&&, CircuitMapKind, Index, Index) = delete;

/// How many rows of a square matrix have their largest entry, alone, on the diagonal, as a share.
double top1(const Tensor& x) {
  const Index size = x.shape()[0];
  double count = 0;
  for (Index i = 0; i < size; ++i) {
    const Real* row = x.data() + i * size;
    count += std::count_if(row, row + size, [&](Real value) { return value >= row[i]; }) == 1 ? 1 : 0;
  }
  return count / static_cast<double>(size);
}

/// The mean of the diagonal less that of the rest.
double diagonal_difference(const Tensor& x) {
  const Index size = x.shape()[0];
  double diagonal = 0;
  double rest = 0;
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) (i == j ? diagonal : rest) += static_cast<double>(x(i, j));
  return diagonal / static_cast<double>(size) - rest / static_cast<double>(size * (size - 1));
}

}  // namespace

TEST_CASE("every head has its maps, and one of composition from the layer after the first on") {
  const CircuitMaps maps = circuit_maps(some_model(), {});
  CHECK(maps.tokens.size() == kVocabulary);
  CHECK(maps.positions == kContext);
  CHECK(maps.maps.size() == 2 * 3 + 4 * 4);
  for (const CircuitMap& map : maps.maps) {
    const Index size = map.kind == CircuitMapKind::qk_positions ? kContext : kVocabulary;
    CHECK(map.values.shape() == Shape{size, size});
    CHECK((map.kind == CircuitMapKind::k_composition) == (map.earlier_layer >= 0));
    if (map.earlier_layer >= 0) CHECK(map.earlier_layer < map.layer);
  }
}

TEST_CASE("the maps come to the numbers that the circuits' tables hold") {
  for (const NormKind norm : {NormKind::none, NormKind::layer, NormKind::rms}) {
    const Transformer model = some_model(norm);
    const CircuitMaps maps = circuit_maps(model, {});
    const Circuits circuits = circuits_of(model);
    for (const HeadCircuits& head : circuits.heads) {
      const Tensor& pattern = find(maps, CircuitMapKind::qk_positions, head.layer, head.head).values;
      double previous = 0;
      for (Index t = 1; t < kContext; ++t)
        previous += static_cast<double>(pattern(t, t - 1)) / (kContext - 1);
      CHECK(previous == doctest::Approx(head.previous_token).epsilon(1e-5));
      CHECK(top1(find(maps, CircuitMapKind::ov, head.layer, head.head).values) == head.copying_top1);
    }
    for (const HeadPair& pair : circuits.pairs) {
      const CircuitMap& map = find(maps, CircuitMapKind::k_composition, pair.layer, pair.head);
      if (map.earlier_layer != pair.earlier_layer || map.earlier_head != pair.earlier_head) continue;
      CHECK(diagonal_difference(map.values) == doctest::Approx(pair.tokens.difference).epsilon(1e-3));
      CHECK(top1(map.values) == pair.tokens.top1);
      for (const HeadPair& other : circuits.pairs)
        if (other.layer == pair.layer && other.head == pair.head) CHECK(other.scores[1] <= pair.scores[1]);
    }
  }
}

TEST_CASE("QK in tokens is the scaled product of queries and keys of the embeddings") {
  const Transformer model = some_model();
  const HeadWeights head = head_weights(model, 1, 1);
  const Tensor embedding = parameter_value(model, "embedding.weight");
  const Tensor queries = product(embedding, head.query);
  const Tensor keys = product(embedding, head.key);
  const CircuitMaps maps = circuit_maps(model, {});
  const Tensor& map = find(maps, CircuitMapKind::qk_tokens, 1, 1).values;
  for (Index i = 0; i < kVocabulary; ++i)
    for (Index j = 0; j < kVocabulary; ++j) {
      double score = 0;
      for (Index d = 0; d < 4; ++d)
        score += static_cast<double>(queries(i, d)) * static_cast<double>(keys(j, d));
      CHECK(static_cast<double>(map(i, j)) == doctest::Approx(score / 2).epsilon(1e-4));
    }
}

TEST_CASE("a sample of tokens has the rows and columns of these tokens, whatever the threads") {
  const Transformer model = some_model();
  const CircuitMaps all = circuit_maps(model, {});
  const CircuitMaps some = circuit_maps(model, {.positions = 4, .tokens = 3, .threads = 3});
  REQUIRE(some.tokens.size() == 3);
  CHECK(std::ranges::is_sorted(some.tokens));
  const Tensor& large = find(all, CircuitMapKind::ov, 2, 0).values;
  const Tensor& small = find(some, CircuitMapKind::ov, 2, 0).values;
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j)
      CHECK(static_cast<double>(small(i, j)) ==
            doctest::Approx(static_cast<double>(large(some.tokens[static_cast<std::size_t>(i)],
                                                      some.tokens[static_cast<std::size_t>(j)])))
                .epsilon(1e-5));
  CHECK(find(some, CircuitMapKind::qk_positions, 0, 0).values.shape() == Shape{4, 4});
  const CircuitMaps one_thread = circuit_maps(model, {.positions = 4, .tokens = 3, .threads = 1});
  for (std::size_t i = 0; i < some.maps.size(); ++i)
    CHECK(std::ranges::equal(some.maps[i].values.values(), one_thread.maps[i].values.values()));
}

TEST_CASE("a model without positions or layers has no such maps, and sizes that do not fit are refused") {
  const Transformer no_positions = random_model(
      {.vocabulary = 5, .context = 4, .width = 4, .heads = 1, .layers = 1, .positions = Positions::none});
  for (const CircuitMap& map : circuit_maps(no_positions, {}).maps)
    CHECK(map.kind != CircuitMapKind::qk_positions);
  CHECK(circuit_maps(random_model({.vocabulary = 5, .context = 4, .width = 4, .heads = 1, .layers = 0}), {})
            .maps.empty());
  CHECK_THROWS_WITH_AS(circuit_maps(some_model(), {.positions = 99}),
                       doctest::Contains("up to 6 positions, got 99"), Error);
  CHECK_THROWS_WITH_AS(circuit_maps(some_model(), {.tokens = 0}), doctest::Contains("at least 1 token"),
                       Error);
}
