#include "tapehead/nn/operation_counter.h"

#include <map>

#include "support/functions.h"
#include "support/models.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/transformer.h"

namespace tapehead {

namespace {

using testing::random_tokens;

/// What every site of a pass of one sequence costs, by name.
std::map<std::string, Index> costs_of(const Transformer& model, Index length) {
  OperationCounter counter;
  model(Pass().watched_by({counter}), random_tokens(1, length, model.config().vocabulary, 1));
  std::map<std::string, Index> costs;
  for (const OperationCounter::Count& count : counter.counts())
    if (count.operations > 0) costs[to_string(count.site)] = count.operations;
  return costs;
}

}  // namespace

TEST_CASE("attention costs 8d^2 + 4td operations a token, the feed-forward part 4df, the read-out 2dV") {
  ModelConfig config = testing::everything_on();
  config.layers = 1;
  const Index d = config.width;
  for (const Index t : {1, 5}) {
    const std::map<std::string, Index> expected{
        {"blocks.0.attention.queries", t * 2 * d * d},
        {"blocks.0.attention.keys", t * 2 * d * d},
        {"blocks.0.attention.values", t * 2 * d * d},
        {"blocks.0.attention.pattern", t * 2 * t * d},
        {"blocks.0.attention.head_output", t * 2 * t * d},
        {"blocks.0.attention.output", t * 2 * d * d},
        {"blocks.0.feed_forward.output", t * 4 * d * config.feed_forward},
        {"logits", t * 2 * d * config.vocabulary}};
    CHECK(costs_of(testing::random_model(config), t) == expected);
  }
}

TEST_CASE("a counter has every site of the model in order, and their sum") {
  const Transformer model = testing::random_model(testing::everything_on());
  OperationCounter counter;
  model(Pass().watched_by({counter}), random_tokens(1, 5, model.config().vocabulary, 1));
  std::vector<Site> sites;
  Index total = 0;
  for (const OperationCounter::Count& count : counter.counts()) {
    sites.push_back(count.site);
    total += count.operations;
  }
  CHECK(sites == sites_of(model.config()));
  CHECK(counter.total() == total);
  CHECK(counter.counts().front().operations == 0);
}

TEST_CASE("what is computed before a pass or by another counter's is not counted") {
  const Transformer model = testing::random_model(testing::attention_only());
  const auto alone = costs_of(model, 3);
  OperationCounter counter;
  costs_of(model, 5);
  model(Pass().watched_by({counter}), random_tokens(1, 3, model.config().vocabulary, 1));
  Index total = 0;
  for (const auto& [site, operations] : alone) total += operations;
  CHECK(counter.total() == total);
}

TEST_CASE("a counter refuses a second pass") {
  const Transformer model = testing::random_model(testing::attention_only());
  const Tokens tokens = random_tokens(1, 3, model.config().vocabulary, 1);
  OperationCounter counter;
  model(Pass().watched_by({counter}), tokens);
  CHECK_THROWS_WITH_AS(model(Pass().watched_by({counter}), tokens),
                       "[operations] a counter watches one pass, and this one has watched one already",
                       Error);
}

}  // namespace tapehead
