#include "tapehead/nn/pass_cost.h"

#include "support/functions.h"
#include "support/models.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

using testing::random_tokens;

/// The same of a pass that ran; dropout's masks are not seen.
PassCost measured_cost(const ModelConfig& config, Index batch, Index length) {
  const Transformer model(config, 1);
  const Tokens inputs = random_tokens(batch, length, config.vocabulary, 1);
  const Tokens targets = random_tokens(batch, length, config.vocabulary, 2);
  const Index operations = gemm_operations();
  const Index bytes = memory_use().now;
  reset_peak_memory();
  Tape tape;
  const Variable loss = cross_entropy(model(Pass(tape, Generator(1)), inputs), targets);
  tape.backward(loss);
  return {gemm_operations() - operations, memory_use().peak - bytes - block_bytes(model.parameters().count()),
          0};
}

void check_cost(const ModelConfig& config, Index batch, Index length) {
  CAPTURE(batch);
  CAPTURE(length);
  const PassCost cost = pass_cost(config, batch, length);
  const PassCost measured = measured_cost(config, batch, length);
  CHECK(cost.operations == measured.operations);
  CHECK(cost.array_bytes == measured.array_bytes);
}

ModelConfig small() {
  ModelConfig config = testing::everything_on();
  config.width = 8;
  config.vocabulary = 9;
  config.layers = 3;
  config.feed_forward = 20;
  config.context = 40;
  config.dropout = 0;
  return config;
}

}  // namespace

TEST_CASE("a pass costs the operations and the bytes that were computed, whatever the model's options") {
  for (const testing::ModelOption& option : testing::every_option(small())) {
    CAPTURE(option.name);
    for (const Index batch : {1, 3})
      for (const Index length : {1, 7, 40}) check_cost(option.config, batch, length);
  }
}

TEST_CASE(
    "the costs are right wherever the peak is: in a wide read-out, a wide feed-forward, long patterns") {
  ModelConfig config = small();
  config.vocabulary = 2000;
  check_cost(config, 2, 5);
  config.vocabulary = 9;
  config.feed_forward = 1000;
  check_cost(config, 2, 5);
  config.feed_forward = 0;
  config.heads = 8;
  config.context = 300;
  check_cost(config, 2, 300);
  config.attention = AttentionForm::tiled;
  check_cost(config, 2, 300);
  config.heads = 1;
  config.width = 64;
  check_cost(config, 1, 3);
}

TEST_CASE("dropout keeps a byte for every number of the stream that it sees, and of every pattern") {
  ModelConfig config = small();
  config.dropout = 0.5;
  // The embedding, and what each of three layers' two parts adds.
  const Index numbers = 7 * 2 * 5 * 8 + 3 * 2 * config.heads * 5 * 5;
  CHECK(pass_cost(config, 2, 5).mask_bytes == numbers);
  config.dropout = 0;
  CHECK(pass_cost(config, 2, 5).mask_bytes == 0);
}

TEST_CASE("a model's own arrays are its parameters and its tables of fixed positions") {
  for (const testing::ModelOption& option : testing::every_option(small())) {
    CAPTURE(option.name);
    const Index before = memory_use().now;
    const Transformer model(option.config, 1);
    CHECK(model_bytes(option.config) == memory_use().now - before);
  }
}

TEST_CASE("the cost of a model larger than any machine is computed without allocating") {
  ModelConfig config = small();
  config.vocabulary = 100'000;
  config.width = 16'384;
  config.heads = 128;
  config.layers = 100;
  config.feed_forward = 4 * config.width;
  config.context = 4096;
  reset_peak_memory();
  const MemoryUse before = memory_use();
  CHECK(pass_cost(config, 4, 4096).operations > Index{1} << 50);
  CHECK(model_bytes(config) > Index{1} << 38);
  CHECK(memory_use().peak == before.peak);
  CHECK(memory_use().obtained == before.obtained);
}

TEST_CASE("a cost refuses sizes that no pass has, and numbers that cannot be counted") {
  CHECK_THROWS_WITH_AS(pass_cost(small(), 0, 5), "[model] expected at least one token, got (0, 5)", Error);
  CHECK_THROWS_WITH_AS(pass_cost(small(), 2, 0), "[model] expected at least one token, got (2, 0)", Error);
  ModelConfig config = small();
  config.heads = 3;
  CHECK_THROWS_WITH_AS(pass_cost(config, 2, 5),
                       "[model] expected width to be divisible by heads, got width 8 and 3 heads", Error);
  config = small();
  config.width = 1'000'000'000;
  config.layers = 1'000'000'000;
  CHECK_THROWS_AS(pass_cost(config, 2, 5), Error);
  CHECK_THROWS_AS(model_bytes(config), Error);
}

}  // namespace tapehead
