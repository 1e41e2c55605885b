#include "tapehead/interp/lens.h"

#include <cmath>

#include "support/functions.h"
#include "support/induction_model.h"
#include "support/models.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Batch sampled_batch(Index count = 9, Index vocabulary = 7) {
  Generator generator(5, Purpose::evaluation);
  return RepeatedSequence({.vocabulary = vocabulary, .length = 10, .period_min = 2, .period_max = 5})
      .sample(generator, count);
}

bool same_evaluation(const Evaluation& a, const Evaluation& b) {
  return same_bits(a.losses, b.losses) && same_bits(a.hits, b.hits) && a.kinds == b.kinds;
}

/// A stream of (1, -1, 2, 0), to which the one layer adds its bias, so that it ends as (6, -8, 12, 2).
Transformer growing_stream() {
  Transformer model({.vocabulary = 2,
                     .context = 1,
                     .width = 4,
                     .heads = 1,
                     .layers = 1,
                     .norm = NormKind::layer,
                     .bias = true,
                     .positions = Positions::none},
                    1);
  set_to_zero(model);
  set_parameter(model, "embedding.weight", {1, -1, 2, 0, 1, -1, 2, 0});
  set_parameter(model, "blocks.0.attention.output.bias", {5, -7, 10, 2});
  set_parameter(model, "final_norm.gain", {1, 1, 1, 1});
  set_parameter(model, "unembedding.weight", {1, 0, 1, 0.5, 0, 1, -1, 0.5});
  return model;
}

}  // namespace

TEST_CASE("a stream is read out with its own scale, not with that of the final one") {
  const Tensor read = lens_at(growing_stream(), Tokens(1, 1), 0);
  REQUIRE(read.shape() == Shape{2, 2});
  CHECK(std::abs(read(0, 0) - 0.988706) < 2e-6);
  CHECK(std::abs(read(0, 1) - 0.011294) < 2e-6);
  // The final stream: mean 3, deviation sqrt(53), so logits 1.5796 and -2.8159.
  CHECK(std::abs(read(1, 0) - 1 / (1 + std::exp(-32 / std::sqrt(53.0)))) < 2e-6);
  Batch batch = noise_batch(1, 1);
  batch.targets(0, 0) = 1;
  const std::vector<Evaluation> evaluations = lens(growing_stream(), batch);
  CHECK(evaluations.at(0).loss() == doctest::Approx(-std::log(0.011294)).epsilon(1e-4));
  CHECK(evaluations.at(0).accuracy() == 0);
}

TEST_CASE("the last reading is the plain evaluation to the bit, and the others are of the streams below") {
  for (const ModelConfig& config : {attention_only(), everything_on()}) {
    const Transformer model = random_model(config);
    const Batch batch = sampled_batch();
    const EvaluateOptions options{.threads = 1, .shard = 4};
    const std::vector<Evaluation> read = lens(model, batch, options);
    REQUIRE(read.size() == 3);
    CHECK(same_evaluation(read[2], evaluate(model, batch, {}, options)));
    Recorder recorder({residual_before(0), residual_before(1)});
    evaluate(model, batch, {recorder}, options);
    for (Index layer = 0; layer < 2; ++layer) {
      const Tensor stream = recorder.at(residual_before(layer));
      CHECK(same_evaluation(read[static_cast<std::size_t>(layer)],
                            evaluate_from(model, batch, 2, stream, {}, options)));
    }
    CHECK_FALSE(same_bits(read[0].losses, read[1].losses));
    CHECK_FALSE(same_bits(read[1].losses, read[2].losses));
  }
}

TEST_CASE("a model without layers is read out once, after the embedding") {
  ModelConfig config = attention_only();
  config.layers = 0;
  const Transformer model = random_model(config);
  const Batch batch = sampled_batch();
  const std::vector<Evaluation> read = lens(model, batch);
  REQUIRE(read.size() == 1);
  CHECK(same_evaluation(read[0], evaluate(model, batch)));
}

TEST_CASE("a perfect circuit says nothing before its last layer") {
  const Transformer model = perfect_induction_model(20, 10);
  const std::vector<Evaluation> read = lens(model, sampled_batch(9, 20));
  REQUIRE(read.size() == 3);
  for (const std::size_t below : {0UL, 1UL}) {
    CHECK(read[below].loss(Kind::induction) == doctest::Approx(std::log(20.0)).epsilon(1e-6));
    CHECK(read[below].loss(Kind::noise) == doctest::Approx(std::log(20.0)).epsilon(1e-6));
  }
  CHECK(read[2].loss(Kind::induction) < 1);
}

TEST_CASE("readings have the same bits for any number of threads") {
  const Transformer model = random_model(everything_on());
  const Batch batch = sampled_batch();
  const std::vector<Evaluation> one = lens(model, batch, {.threads = 1, .shard = 2});
  const std::vector<Evaluation> four = lens(model, batch, {.threads = 4, .shard = 2});
  REQUIRE(one.size() == four.size());
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(same_evaluation(one[i], four[i]));
}

TEST_CASE("what is read at one position are the probabilities whose logarithms are the losses") {
  const Transformer model = random_model(everything_on());
  const Batch batch = sampled_batch(1);
  const std::vector<Evaluation> read = lens(model, batch);
  for (Index position = 0; position < 10; ++position) {
    const Tensor probabilities = lens_at(model, batch.inputs, position);
    REQUIRE(probabilities.shape() == Shape{3, 7});
    for (Index layer = 0; layer < 3; ++layer) {
      double total = 0;
      for (Index v = 0; v < 7; ++v) total += static_cast<double>(probabilities(layer, v));
      CHECK(total == doctest::Approx(1));
      const auto right = static_cast<double>(probabilities(layer, batch.targets(0, position)));
      const auto loss = static_cast<double>(read[static_cast<std::size_t>(layer)].losses(0, position));
      CHECK(-std::log(right) == doctest::Approx(loss).epsilon(1e-4));
    }
  }
  for (const Index position : {-1, 10})
    CHECK(failure_of([&] { lens_at(model, batch.inputs, position); }).find("[lens] expected one sequence") !=
          std::string::npos);
  CHECK(failure_of([&] { lens_at(model, sampled_batch(2).inputs, 0); }).find("[lens]") != std::string::npos);
}

TEST_CASE("the likeliest come first, and of equals the lowest id") {
  const Tensor probabilities({2, 4}, {0, 0, 0, 0, Real{0.25}, Real{0.125}, Real{0.375}, Real{0.25}});
  const std::vector<Guess> guesses = likeliest(probabilities, 1, 3);
  REQUIRE(guesses.size() == 3);
  CHECK(guesses[0].token == 2);
  CHECK(guesses[0].probability == 0.375);
  CHECK(guesses[1].token == 0);
  CHECK(guesses[2].token == 3);
  CHECK(likeliest(probabilities, 1, 9).size() == 4);
  CHECK(likeliest(probabilities, 1, 0).empty());
}

TEST_CASE("the table of readings has one row a place, from the embedding up") {
  const Transformer model = random_model(attention_only());
  const std::vector<Evaluation> read = lens(model, sampled_batch());
  const CsvTable table = lens_table(read, 2000);
  CHECK(table.columns() == std::vector<std::string>{"layer", "loss", "loss_induction", "loss_noise",
                                                    "accuracy_induction", "accuracy_noise", "step",
                                                    "sequences"});
  REQUIRE(table.rows() == 3);
  for (Index row = 0; row < 3; ++row) {
    const Evaluation& evaluation = read[static_cast<std::size_t>(row)];
    CHECK(table.cell(row, "layer") == std::to_string(row));
    CHECK(table.cell(row, "loss") == csv_cell(evaluation.loss()));
    CHECK(table.cell(row, "loss_induction") == csv_cell(evaluation.loss(Kind::induction)));
    CHECK(table.cell(row, "loss_noise") == csv_cell(evaluation.loss(Kind::noise)));
    CHECK(table.cell(row, "accuracy_induction") == csv_cell(evaluation.accuracy(Kind::induction)));
    CHECK(table.cell(row, "accuracy_noise") == csv_cell(evaluation.accuracy(Kind::noise)));
    CHECK(table.cell(row, "step") == "2000");
    CHECK(table.cell(row, "sequences") == "9");
  }
}
