#include "tapehead/train/benchmark.h"

#include <map>
#include <string>

#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/train/trainer.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("a benchmark times as many steps as asked for, and counts what one step does") {
  const Config config = tiny_config();
  const Benchmark result = benchmark(config, {.workers = 2, .steps = 3});
  CHECK(result.steps == 3);
  CHECK(result.profiled_steps == 3);
  CHECK(result.tokens == 7 * 12);
  // Two layers of four square matrices and two of the feed-forward, the unembedding, and two products of
  // attention: forward, and back twice.
  CHECK(result.operations == 6 * 7 * 12 * (2 * (4 * 8 * 8 + 2 * 8 * 12) + 8 * 8 + 2 * 2 * 12 * 8));
  CHECK(result.operations == Trainer(config, 1).advance().operations);
  CHECK(result.step_seconds.low > 0);
  CHECK(result.step_seconds.low <= result.step_seconds.median);
  CHECK(result.step_seconds.median <= result.step_seconds.high);
  CHECK(result.peak_operations > 0);
  CHECK(result.peak_bytes > 0);
}

TEST_CASE(
    "a benchmark's profile names every op of the model and every part of a step, and counts their calls") {
  const Config config = tiny_config();
  Trainer trainer(config, 1);
  Profile step;
  trainer.advance(&step);
  std::map<std::string, Index> expected;
  for (const Profile::Entry& entry : step.entries()) expected[std::string(entry.name)] = 2 * entry.calls;
  for (const char* name : {"embedding", "linear", "layer_norm", "dropout", "attention_pattern",
                           "attention_mix", "gelu", "add", "cross_entropy"}) {
    CAPTURE(name);
    CHECK(expected[name] >= 2 * 4);  // of two steps of four shards
  }
  for (const char* name : {"batch", "reduce", "optimizer"}) CHECK(expected[name] == 2);

  std::map<std::string, Index> counted;
  const Benchmark result = benchmark(config, {.workers = 2, .steps = 2});
  for (const Profile::Entry& entry : result.profile.entries()) counted[std::string(entry.name)] = entry.calls;
  CHECK(counted == expected);
}

TEST_CASE("without a number of steps a benchmark goes on for its time, and at least three steps") {
  const Benchmark result = benchmark(tiny_config(), {.workers = 1, .seconds = 0});
  CHECK(result.steps == 3);
  CHECK(result.profiled_steps == 3);
}

TEST_CASE("a benchmark refuses what cannot be run") {
  CHECK_THROWS_WITH_AS(benchmark(tiny_config(), {.seconds = -1}),
                       "[benchmark] expected seconds and steps of at least 0, got -1 and 0", Error);
  CHECK_THROWS_WITH_AS(benchmark(tiny_config(), {.steps = -2}),
                       "[benchmark] expected seconds and steps of at least 0, got 2 and -2", Error);
  CHECK_THROWS_AS(benchmark(tiny_config(), {.workers = 0, .steps = 1}), Error);
  Config config = tiny_config();
  config.model.heads = 3;
  CHECK_THROWS_AS(benchmark(config, {.steps = 1}), UsageError);
}
