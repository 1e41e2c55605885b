#include "tapehead/interp/copying.h"

#include <algorithm>
#include <set>

#include "support/models.h"
#include "support/tokens_model.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/train/evaluate.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// The definition, query by query and key by key, from what one pass of the model shows.
double plain_copying(const Transformer& model, Index layer, Index head) {
  const ModelConfig& config = model.config();
  const Tokens tokens = copying_sequences(config);
  Batch batch = noise_batch(tokens.batch(), tokens.length());
  batch.inputs = tokens;
  Recorder recorder({values(layer), pattern(layer)});
  evaluate(model, batch, {recorder});
  const Tensor v = recorder.at(values(layer));
  const Tensor a = recorder.at(pattern(layer));
  const Tensor projection = parameter_value(
      model, fmt::format("blocks.{}.attention.output.weight", layer));  // (C, C), outputs first
  const Tensor readout = parameter_value(model, config.tied ? "embedding.weight" : "unembedding.weight");
  const Index width = config.width;
  const Index head_width = width / config.heads;

  double sum = 0;
  for (Index b = 0; b < tokens.batch(); ++b)
    for (Index q = 0; q < tokens.length(); ++q)
      for (Index k = 0; k <= q; ++k) {
        std::vector<double> written(static_cast<std::size_t>(width));
        double mean_written = 0;
        for (Index c = 0; c < width; ++c) {
          double& x = written[static_cast<std::size_t>(c)];
          for (Index d = 0; d < head_width; ++d)
            x += static_cast<double>(v(b, k, head * head_width + d)) *
                 static_cast<double>(projection(c, head * head_width + d));
          mean_written += x / static_cast<double>(width);
        }
        std::vector<double> logits(static_cast<std::size_t>(config.vocabulary));
        double mean = 0;
        for (Index t = 0; t < config.vocabulary; ++t) {
          double& logit = logits[static_cast<std::size_t>(t)];
          for (Index c = 0; c < width; ++c) {
            double x = written[static_cast<std::size_t>(c)];
            if (config.norm == NormKind::layer)
              x = (x - mean_written) * static_cast<double>(parameter_value(model, "final_norm.gain")(c));
            logit += x * static_cast<double>(readout(t, c));
          }
          mean += logit / static_cast<double>(config.vocabulary);
        }
        double raised = 0;
        for (const double logit : logits) raised += std::max(0.0, logit - mean);
        const double own = std::max(0.0, logits[static_cast<std::size_t>(tokens(b, k))] - mean);
        sum += static_cast<double>(a(b, head, q, k)) * own / raised;
      }
  return 2 * sum / static_cast<double>(tokens.count()) - 1;
}

}  // namespace

TEST_CASE("sequences for the copying score have different tokens, and as many as there is room for") {
  for (const auto& [vocabulary, context, length] : {std::array{7, 10, 7}, {64, 48, 32}, {50, 5, 5}}) {
    ModelConfig config;
    config.vocabulary = vocabulary;
    config.context = context;
    const Tokens tokens = copying_sequences(config);
    CHECK(tokens == copying_sequences(config));
    CHECK(tokens.length() == length);
    for (Index b = 0; b < tokens.batch(); ++b) {
      std::set<std::int32_t> seen;
      for (Index t = 0; t < length; ++t) {
        CHECK((tokens(b, t) >= 0 && tokens(b, t) < vocabulary));
        seen.insert(tokens(b, t));
      }
      CHECK(static_cast<Index>(seen.size()) == length);
    }
  }
  Generator generator(1);
  CHECK_THROWS_WITH_AS(distinct_tokens(generator, 3, 4), doctest::Contains("up to 3 different tokens, got 4"),
                       Error);
}

TEST_CASE("a head that copies what it looks at scores exactly 1, one that forbids it exactly -1") {
  for (const Index vocabulary : {8, 7}) {
    CHECK(copying_scores(token_model(vocabulary, 1)) == std::vector<double>{1});
    CHECK(copying_scores(token_model(vocabulary, -1)) == std::vector<double>{-1});
  }
}

TEST_CASE("a head that writes nothing, or raises all tokens alike, scores exactly the chance level") {
  CHECK(chance_copying(64) == -0.96875);
  CHECK(copying_scores(token_model(8, 0)) == std::vector<double>{chance_copying(8)});
  Transformer alike = token_model(8, 1);
  set_parameter(
      alike, "unembedding.weight",
      std::initializer_list<double>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(copying_scores(alike) == std::vector<double>{chance_copying(8)});
  CHECK(copying_scores(token_model(7, 0)).front() == doctest::Approx(chance_copying(7)).epsilon(1e-15));
}

TEST_CASE("the copying score is its definition, in models with layer norms and biases too") {
  for (const ModelConfig& config : {attention_only(), everything_on()}) {
    const Transformer model = random_model(config, 4);
    const std::vector<double> scores = copying_scores(model);
    REQUIRE(scores.size() == 4);
    for (Index i = 0; i < 4; ++i)
      CHECK(scores[static_cast<std::size_t>(i)] ==
            doctest::Approx(plain_copying(model, i / 2, i % 2)).epsilon(10 * kRounding));
    CHECK(scores[0] != scores[1]);
    CHECK(copying_scores(model, 3) == scores);
  }
}

TEST_CASE("a model without layers has no heads to score") {
  ModelConfig config = attention_only();
  config.layers = 0;
  CHECK(copying_scores(random_model(config)).empty());
}
