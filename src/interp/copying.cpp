#include "tapehead/interp/copying.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/head_weights.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

namespace {

constexpr Index kSequences = 4;
constexpr Index kLongest = 32;
constexpr std::uint64_t kSeed = 1;

/// The share of what `logits` raises over its mean that falls on `token`.
double share_on(std::int32_t token, const Real* logits, Index vocabulary) {
  double mean = 0;
  for (Index i = 0; i < vocabulary; ++i) mean += static_cast<double>(logits[i]);
  mean /= static_cast<double>(vocabulary);
  double raised = 0;
  for (Index i = 0; i < vocabulary; ++i) raised += std::max(0.0, static_cast<double>(logits[i]) - mean);
  if (raised == 0) return 1 / static_cast<double>(vocabulary);
  return std::max(0.0, static_cast<double>(logits[token]) - mean) / raised;
}

/// One head's score from what came by: its values (B, T, H*D) and patterns (B, H, T, T).
double score_of(const Transformer& model, Index layer, Index head, const Tokens& tokens, const Tensor& values,
                const Tensor& patterns) {
  const ModelConfig& config = model.config();
  const Index head_width = config.width / config.heads;
  const Index length = tokens.length();
  const Tensor to_logits = output_to_logits(model, head_weights(model, layer, head));
  Tensor logits = Tensor::uninitialised({length, config.vocabulary});
  double sum = 0;
  double weights = 0;
  for (Index b = 0; b < tokens.batch(); ++b) {
    const Real* value = values.data() + b * length * config.width + head * head_width;
    gemm(logits.data(), config.vocabulary, {value, config.width}, {to_logits.data(), config.vocabulary},
         length, config.vocabulary, head_width, 1, 0);
    const Real* pattern = patterns.data() + (b * config.heads + head) * length * length;
    for (Index k = 0; k < length; ++k) {
      double weight = 0;
      for (Index q = k; q < length; ++q) weight += static_cast<double>(pattern[q * length + k]);
      sum += weight * share_on(tokens(b, k), logits.data() + k * config.vocabulary, config.vocabulary);
      weights += weight;
    }
  }
  return 2 * sum / weights - 1;
}

}  // namespace

std::vector<std::int32_t> distinct_tokens(Generator& generator, Index vocabulary, Index count) {
  require(count >= 0 && count <= vocabulary, "[tokens] expected up to {} different tokens, got {}",
          vocabulary, count);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(vocabulary));
  std::iota(ids.begin(), ids.end(), 0);
  for (Index i = 0; i < count; ++i)
    std::swap(ids[static_cast<std::size_t>(i)],
              ids[static_cast<std::size_t>(i + generator.below(vocabulary - i))]);
  ids.resize(static_cast<std::size_t>(count));
  return ids;
}

Tokens copying_sequences(const ModelConfig& config) {
  const Index length = std::min({config.vocabulary, config.context, kLongest});
  Generator generator(kSeed, Purpose::probe);
  Tokens tokens(kSequences, length);
  for (Index b = 0; b < kSequences; ++b) {
    const std::vector<std::int32_t> ids = distinct_tokens(generator, config.vocabulary, length);
    for (Index t = 0; t < length; ++t) tokens(b, t) = ids[static_cast<std::size_t>(t)];
  }
  return tokens;
}

std::vector<double> copying_scores(const Transformer& model, int threads) {
  const ModelConfig& config = model.config();
  if (config.layers == 0) return {};
  std::vector<Site> sites;
  for (Index layer = 0; layer < config.layers; ++layer) {
    sites.push_back(values(layer));
    sites.push_back(pattern(layer));
  }
  Recorder recorder(std::move(sites));
  Batch batch = noise_batch(kSequences, copying_sequences(config).length());
  batch.inputs = copying_sequences(config);
  evaluate(model, batch, {recorder}, {.threads = threads, .shard = 2});

  std::vector<double> scores(static_cast<std::size_t>(config.layers * config.heads));
  for (Index layer = 0; layer < config.layers; ++layer) {
    const Tensor layer_values = recorder.at(values(layer));
    const Tensor layer_patterns = recorder.at(pattern(layer));
    parallel_for(config.heads, threads, [&](Index head) {
      scores[static_cast<std::size_t>(layer * config.heads + head)] =
          score_of(model, layer, head, batch.inputs, layer_values, layer_patterns);
    });
  }
  return scores;
}

double chance_copying(Index vocabulary) { return 2 / static_cast<double>(vocabulary) - 1; }

}  // namespace tapehead
