#include "tapehead/nn/model_config.h"

#include <cmath>
#include <string>

#include "support/modules.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/transformer.h"

namespace tapehead {

namespace {

using testing::kAttentionOnly;
using testing::kEverything;

}  // namespace

TEST_CASE("an attention-only model has embeddings, two matrices a layer, and an unembedding") {
  CHECK(testing::listing_of(Transformer(kAttentionOnly, 1).parameters()) ==
        "embedding.weight (7, 8) 56\n"
        "positions.weight (6, 8) 48\n"
        "blocks.0.attention.qkv.weight (24, 8) 192\n"
        "blocks.0.attention.output.weight (8, 8) 64\n"
        "blocks.1.attention.qkv.weight (24, 8) 192\n"
        "blocks.1.attention.output.weight (8, 8) 64\n"
        "unembedding.weight (7, 8) 56\n");
}

TEST_CASE("a model with everything has norms, biases and feed-forward parts, and a tied one no unembedding") {
  ModelConfig config = kEverything;
  config.layers = 1;
  CHECK(testing::listing_of(Transformer(config, 1).parameters()) ==
        "embedding.weight (7, 8) 56\n"
        "positions.weight (6, 8) 48\n"
        "blocks.0.attention_norm.gain (8) 8\n"
        "blocks.0.attention_norm.bias (8) 8\n"
        "blocks.0.attention.qkv.weight (24, 8) 192\n"
        "blocks.0.attention.qkv.bias (24) 24\n"
        "blocks.0.attention.output.weight (8, 8) 64\n"
        "blocks.0.attention.output.bias (8) 8\n"
        "blocks.0.feed_forward_norm.gain (8) 8\n"
        "blocks.0.feed_forward_norm.bias (8) 8\n"
        "blocks.0.feed_forward.input.weight (12, 8) 96\n"
        "blocks.0.feed_forward.input.bias (12) 12\n"
        "blocks.0.feed_forward.output.weight (8, 12) 96\n"
        "blocks.0.feed_forward.output.bias (8) 8\n"
        "final_norm.gain (8) 8\n"
        "final_norm.bias (8) 8\n");
}

TEST_CASE("weights start by their inputs, or as GPT-2's do") {
  const auto deviation = [](const ModelConfig& config, const std::string& name) {
    const Transformer model(config, 1);
    for (const Parameters::Entry& entry : model.parameters().entries())
      if (entry.name == name) return entry.start.deviation;
    return -1.0;
  };
  ModelConfig fan_in = kAttentionOnly;
  fan_in.feed_forward = 16;
  for (const char* name : {"embedding.weight", "positions.weight", "unembedding.weight",
                           "blocks.1.attention.qkv.weight", "blocks.1.feed_forward.input.weight"})
    CHECK(deviation(fan_in, name) == doctest::Approx(1 / std::sqrt(8.0)));
  CHECK(deviation(fan_in, "blocks.1.attention.output.weight") == doctest::Approx(1 / std::sqrt(4.0)));
  CHECK(deviation(fan_in, "blocks.1.feed_forward.output.weight") == doctest::Approx(1 / std::sqrt(16.0)));
  for (const char* name : {"embedding.weight", "positions.weight", "blocks.1.attention.qkv.weight",
                           "blocks.1.feed_forward.input.weight"})
    CHECK(deviation(kEverything, name) == 0.02);
  for (const char* name : {"blocks.0.attention.output.weight", "blocks.1.feed_forward.output.weight"})
    CHECK(deviation(kEverything, name) == doctest::Approx(0.02 / 2));
}

TEST_CASE("sizes that do not fit together are refused by both their names") {
  const auto refused = [](auto change) {
    ModelConfig config = kEverything;
    change(config);
    CHECK_THROWS_AS(validate(config), Error);
    CHECK_THROWS_AS(Transformer(config, 1), Error);
  };
  CHECK_NOTHROW(validate(kEverything));
  refused([](ModelConfig& c) { c.heads = 3; });
  refused([](ModelConfig& c) { c.heads = 0; });
  refused([](ModelConfig& c) { c.width = 0; });
  refused([](ModelConfig& c) { c.vocabulary = 0; });
  refused([](ModelConfig& c) { c.context = 0; });
  refused([](ModelConfig& c) { c.layers = -1; });
  refused([](ModelConfig& c) { c.feed_forward = -1; });
  refused([](ModelConfig& c) { c.dropout = 1.5; });
  refused([](ModelConfig& c) { c.dropout = std::nan(""); });
  ModelConfig config = kEverything;
  config.heads = 3;
  CHECK_THROWS_WITH_AS(validate(config),
                       "[model] expected width to be divisible by heads, got width 8 and 3 heads", Error);
}

TEST_CASE("a config says what becomes of positions and scores") {
  ModelConfig config = kAttentionOnly;
  CHECK(adds_positions(config));
  CHECK(has_bilinear_scores(config));
  config.scores = ScoreForm::bilinear;
  config.positions = Positions::sinusoidal;
  CHECK(adds_positions(config));
  CHECK(has_bilinear_scores(config));
  config.scores = ScoreForm::additive;
  CHECK_FALSE(has_bilinear_scores(config));
  config.scores = ScoreForm::dot;
  config.query_key_norm = true;
  config.scaled_scores = false;
  CHECK_FALSE(has_bilinear_scores(config));
  for (const Positions positions : {Positions::rotary, Positions::alibi, Positions::none}) {
    config.positions = positions;
    CHECK_FALSE(adds_positions(config));
  }
}

TEST_CASE("fixed positions are tables of sinusoids, of the width or of a head's in every layer, or none") {
  ModelConfig config = kAttentionOnly;
  const auto numbers = [&](Positions positions) {
    config.positions = positions;
    return count_fixed_positions(config);
  };
  const auto context = static_cast<double>(config.context);
  CHECK(numbers(Positions::sinusoidal) == context * static_cast<double>(config.width));
  CHECK(numbers(Positions::rotary) ==
        static_cast<double>(config.layers) * context * static_cast<double>(config.width / config.heads));
  for (const Positions positions : {Positions::learned, Positions::alibi, Positions::none})
    CHECK(numbers(positions) == 0);
}

}  // namespace tapehead
