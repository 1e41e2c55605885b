#include "tapehead/interp/circuits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/circuit_maps.h"
#include "tapehead/tensor/decomposition.h"
#include "tapehead/tensor/gemm.h"

namespace tapehead {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr Index kMostPositions = 1024;  // whose pattern, (T, T) a head, is still small
constexpr Index kRowsAtOnce = 64;       // of full OV, whose rows are as long as the vocabulary

/// What all heads of a model share.
struct Shared {
  std::vector<std::int32_t> ids;  // of the tokens that are looked at
  Tensor tokens;                  // their rows of W_E, (N, C)
  Tensor positions;               // W_pos (T, C), perhaps without rows
  Tensor read_embedding;          // W_U W_E (C, C), which closes full OV to a circle
};

/// Throws Error for more positions than the context, and for fewer than 1 token.
Shared shared_of(const Transformer& model, const CircuitOptions& options) {
  const ModelConfig& config = model.config();
  require(options.tokens >= 1, "[circuits] expected at least 1 token to look at, got {}", options.tokens);
  require(options.positions >= 0 && options.positions <= config.context,
          "[circuits] expected up to {} positions, got {}", config.context, options.positions);
  const Parameter embedding = model.parameters().find("embedding.weight");
  const Parameter readout = model.parameters().find(readout_name(config));
  Shared shared;
  shared.ids = circuit_tokens(config.vocabulary, options.tokens);
  shared.tokens = rows_of(embedding, shared.ids);
  shared.positions = position_vectors(model, options.positions == 0 ? config.context : options.positions);
  // (W_Eᵀ W_U') with the rows of W_U on the outside, so that the final norm folds as it does for a head.
  Tensor square = Tensor::uninitialised({config.width, config.width});
  gemm(square.data(), config.width, {embedding.data(), config.width, true}, {readout.data(), config.width},
       config.width, config.width, config.vocabulary, 1, 0);
  shared.read_embedding = std::move(square);
  return shared;
}

double previous_token_circuit(const HeadWeights& head, const Tensor& positions) {
  const Index count = positions.shape()[0];
  if (count < 2) return kMissing;
  const Tensor pattern = positional_pattern(head, positions);
  double sum = 0;
  for (Index t = 1; t < count; ++t) sum += static_cast<double>(pattern.data()[t * count + t - 1]);
  return sum / static_cast<double>(count - 1);
}

/// Counts in which rows of full OV the diagonal comes first, and among the first five.
void count_copies(HeadCircuits& circuits, const Transformer& model, const HeadWeights& head,
                  const Shared& shared) {
  const Tensor values = product(shared.tokens, head.value);  // (N, D)
  const Tensor to_logits = output_to_logits(model, head);    // (D, V)
  const Index count = values.shape()[0];
  const Index width = values.shape()[1];
  const Index vocabulary = to_logits.shape()[1];
  Tensor logits = Tensor::uninitialised({std::min(count, kRowsAtOnce), vocabulary});
  Index first = 0;
  Index among_five = 0;
  for (Index begin = 0; begin < count; begin += kRowsAtOnce) {
    const Index rows = std::min(kRowsAtOnce, count - begin);
    gemm(logits.data(), vocabulary, {values.data() + begin * width, width}, {to_logits.data(), vocabulary},
         rows, vocabulary, width, 1, 0);
    for (Index i = 0; i < rows; ++i) {
      const Real* row = logits.data() + i * vocabulary;
      const Real own = row[shared.ids[static_cast<std::size_t>(begin + i)]];
      // Itself counts too; where nothing is finite it does not.
      const auto as_large = std::count_if(row, row + vocabulary, [&](Real logit) { return logit >= own; });
      first += as_large == 1 ? 1 : 0;
      among_five += as_large >= 1 && as_large <= 5 ? 1 : 0;
    }
  }
  circuits.copying_top1 = static_cast<double>(first) / static_cast<double>(count);
  circuits.copying_top5 = static_cast<double>(among_five) / static_cast<double>(count);
}

/// The transpose of a matrix.
Tensor transposed(const Tensor& x, double scale = 1) {
  const Index rows = x.shape()[0];
  const Index columns = x.shape()[1];
  Tensor result = Tensor::uninitialised({columns, rows});
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      result.data()[j * rows + i] = static_cast<Real>(scale * static_cast<double>(x.data()[i * columns + j]));
  return result;
}

HeadCircuits circuits_of_head(const Transformer& model, const HeadWeights& head, const Shared& shared) {
  HeadCircuits circuits{.layer = head.layer, .head = head.head};
  count_copies(circuits, model, head, shared);
  const Tensor keys = transposed(head.key, 1 / std::sqrt(static_cast<double>(head.key.shape()[1])));
  circuits.ov = eigenvalues(head.value, head.output);
  // W_E (W_V W_O W_U) has the eigenvalues of (W_V)(W_O W_U W_E), but for zeros.
  const Tensor output = product_transposed(before_readout(model, head.output), shared.read_embedding);
  circuits.ov_tokens = eigenvalues(head.value, output);
  circuits.copying_eigenvalues = positive_share(circuits.ov_tokens);
  circuits.ov_singular = singular_values(head.value, head.output);
  circuits.previous_token = kMissing;
  if (!has_bilinear_scores(model.config())) return circuits;
  circuits.previous_token = previous_token_circuit(head, shared.positions);
  circuits.qk = eigenvalues(head.query, keys);
  circuits.qk_singular = singular_values(head.query, keys);
  return circuits;
}

/// All pairs of a head and an earlier one, in the order of the later, then of the earlier. What rests on a
/// matrix W_Q W_Kᵀ is there where scores are `bilinear`.
std::vector<HeadPair> pairs_of(const std::vector<HeadWeights>& weights, const Tensor& tokens, bool bilinear,
                               int threads) {
  std::vector<ComposingHead> heads;
  for (const HeadWeights& head : weights) heads.emplace_back(head);
  const auto count = static_cast<Index>(heads.size());
  std::vector<Tensor> queries(heads.size());
  std::vector<Tensor> values(heads.size());
  parallel_for(count, threads, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    queries[at] = product(tokens, weights[at].query);
    values[at] = product(tokens, weights[at].value);
  });
  std::vector<std::vector<HeadPair>> of_later(heads.size());
  parallel_for(count, threads, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    const ComposingHead& later = heads[at];
    for (std::size_t j = 0; heads[j].weights.layer < later.weights.layer; ++j) {
      const ComposingHead& earlier = heads[j];
      HeadPair pair{earlier.weights.layer, earlier.weights.head, later.weights.layer, later.weights.head};
      for (std::size_t how = 0; how < pair.scores.size(); ++how) {
        const auto composition = static_cast<Composition>(how);
        const bool is_there = bilinear || composition == Composition::values;
        pair.scores[how] = is_there ? composition_score(earlier, later, composition) : kMissing;
      }
      pair.tokens = bilinear ? token_composition(earlier.weights, values[j], later.weights, queries[at])
                             : TokenComposition{kMissing, kMissing};
      of_later[at].push_back(pair);
    }
  });
  std::vector<HeadPair> pairs;
  for (const auto& some : of_later) pairs.insert(pairs.end(), some.begin(), some.end());
  return pairs;
}

}  // namespace

double Circuits::chance_previous_token() const {
  double sum = 0;
  for (Index t = 1; t < positions; ++t) sum += 1 / static_cast<double>(t + 1);
  return sum / static_cast<double>(positions - 1);
}

CircuitOptions usual_circuit_options(const Transformer& model, const Config& config, const Batch& batch,
                                     const EvaluateOptions& options) {
  const bool was_trained_here = config.model.initialisation != Initialisation::imported;
  const Index positions = was_trained_here ? config.task.length : config.model.context;
  return {.positions = std::min(positions, kMostPositions),
          .scales = attention_scales(model, batch, options),
          .threads = options.threads};
}

HeadCircuits circuits_of_head(const Transformer& model, Index layer, Index head,
                              const CircuitOptions& options) {
  const double scale = options.scales.empty() ? 1 : options.scales.at(static_cast<std::size_t>(layer));
  return circuits_of_head(model, head_weights(model, layer, head, scale), shared_of(model, options));
}

Circuits circuits_of(const Transformer& model, const CircuitOptions& options) {
  const ModelConfig& config = model.config();
  const std::vector<HeadWeights> weights = all_head_weights(model, options.scales);
  const Shared shared = shared_of(model, options);
  Circuits circuits{.vocabulary = config.vocabulary,
                    .positions = options.positions == 0 ? config.context : options.positions,
                    .tokens = shared.tokens.shape()[0],
                    .heads = std::vector<HeadCircuits>(weights.size()),
                    .pairs = {},
                    .baseline = composition_baseline(config.width, config.width / config.heads)};
  parallel_for(static_cast<Index>(weights.size()), options.threads, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    circuits.heads[at] = circuits_of_head(model, weights[at], shared);
  });
  circuits.pairs = pairs_of(weights, shared.tokens, has_bilinear_scores(config), options.threads);
  return circuits;
}

double positive_share(const std::vector<std::complex<double>>& eigenvalues) {
  double real = 0;
  double size = 0;
  for (const std::complex<double>& value : eigenvalues) {
    real += value.real();
    size += std::abs(value);
  }
  return size > 0 ? real / size : kMissing;
}

}  // namespace tapehead
