#include "tapehead/interp/attention_map.h"

#include <numeric>

#include "support/induction_model.h"
#include "support/models.h"
#include "tapehead/base/require.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("the maps of a perfect induction circuit look a token back, and after the earlier copy") {
  const Transformer model = perfect_induction_model(5, 6);
  const Tokens sequence(1, 6, {4, 1, 3, 4, 1, 3});
  const std::vector<AttentionMap> maps =
      attention_maps(model, sequence, {head_output(1, 0), head_output(0, 0)});
  REQUIRE(maps.size() == 2);
  CHECK(maps[0].layer == 1);
  CHECK(maps[0].head == 0);
  CHECK(maps[1].layer == 0);
  for (const AttentionMap& map : maps) {
    REQUIRE(map.weights.size() == 6);
    for (std::size_t query = 0; query < 6; ++query) {
      REQUIRE(map.weights[query].size() == 6);
      CHECK(std::accumulate(map.weights[query].begin(), map.weights[query].end(), 0.0) ==
            doctest::Approx(1).epsilon(kRounding));
      for (std::size_t key = query + 1; key < 6; ++key) CHECK(map.weights[query][key] == 0);
    }
  }
  for (std::size_t query = 3; query < 6; ++query)
    CHECK(maps[0].weights[query][query - 2] == doctest::Approx(1));
  for (std::size_t query = 1; query < 6; ++query)
    CHECK(maps[1].weights[query][query - 1] == doctest::Approx(1));
}

TEST_CASE("maps are of one sequence and of heads that are there") {
  const Transformer model(attention_only(), 1);
  CHECK_THROWS_WITH_AS(attention_maps(model, Tokens(2, 3), {head_output(0, 0)}),
                       "[attention] expected one sequence, got 2", Error);
  CHECK_THROWS_AS(attention_maps(model, Tokens(1, 3), {head_output(0, 7)}), Error);
  CHECK(attention_maps(model, Tokens(1, 3), {}).empty());
}

TEST_CASE("an induction head's targets stand after every earlier copy of the query, the nearest first") {
  Batch batch = noise_batch(2, 7);
  for (const Index t : {3, 4, 6}) {
    batch.kinds(1, t) = Kind::induction;
    batch.earlier_copy(1, t) = static_cast<std::int32_t>(t - 3);
  }
  using Targets = std::vector<std::vector<Index>>;
  CHECK(induction_targets(batch, 1) == Targets{{}, {}, {}, {1}, {2}, {}, {4, 1}});
  CHECK(induction_targets(batch, 0) == Targets(7));
}
