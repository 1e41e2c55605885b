#include "tapehead/interp/circuit_maps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "tapehead/autograd/attention.h"
#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/copying.h"

namespace tapehead {

namespace {

constexpr std::uint64_t kSeed = 3;

/// What all heads of a model share.
struct Shared {
  std::vector<std::int32_t> ids;
  Tensor tokens;     // their rows of W_E, (N, C)
  Tensor positions;  // W_pos (T, C), perhaps without rows
};

/// x with every number times `factor`.
Tensor scaled(Tensor x, double factor) {
  for (Real& value : x.values()) value = static_cast<Real>(factor * static_cast<double>(value));
  return x;
}

double root_of_width(const HeadWeights& head) {
  return std::sqrt(static_cast<double>(head.query.shape()[1]));
}

/// The columns of x (N, V) named by ids.
Tensor columns_of(const Tensor& x, const std::vector<std::int32_t>& ids) {
  const Index rows = x.shape()[0];
  const Index vocabulary = x.shape()[1];
  const auto count = static_cast<Index>(ids.size());
  Tensor result = Tensor::uninitialised({rows, count});
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < count; ++j)
      result.data()[i * count + j] = x.data()[i * vocabulary + ids[static_cast<std::size_t>(j)]];
  return result;
}

Tensor full_ov(const Transformer& model, const HeadWeights& head, const Shared& shared) {
  return product(product(shared.tokens, head.value), columns_of(output_to_logits(model, head), shared.ids));
}

Tensor token_scores(const HeadWeights& head, const Tensor& tokens) {
  return scaled(product_transposed(product(tokens, head.query), product(tokens, head.key)),
                1 / root_of_width(head));
}

Tensor composed_scores(const HeadWeights& earlier, const HeadWeights& later, const Tensor& tokens) {
  const Tensor moved = product(product(tokens, earlier.value), product(earlier.output, later.key));
  return scaled(product_transposed(product(tokens, later.query), moved), 1 / root_of_width(later));
}

/// The earlier head whose output this one's keys read most, if any does.
std::optional<std::size_t> most_read_by(const std::vector<ComposingHead>& heads, const ComposingHead& later) {
  std::optional<std::size_t> best;
  double highest = -1;
  for (std::size_t i = 0; heads[i].weights.layer < later.weights.layer; ++i) {
    const double score = composition_score(heads[i], later, Composition::keys);
    if (score > highest) {
      best = i;
      highest = score;
    }
  }
  return best;
}

std::vector<CircuitMap> maps_of(const Transformer& model, const std::vector<ComposingHead>& heads,
                                const ComposingHead& composing, const Shared& shared) {
  const HeadWeights& head = composing.weights;
  std::vector<CircuitMap> maps;
  const auto add = [&](CircuitMapKind kind, Tensor values) {
    maps.push_back({.kind = kind, .layer = head.layer, .head = head.head, .values = std::move(values)});
  };
  add(CircuitMapKind::ov, full_ov(model, head, shared));
  if (!has_bilinear_scores(model.config())) return maps;
  add(CircuitMapKind::qk_tokens, token_scores(head, shared.tokens));
  if (shared.positions.shape()[0] > 0)
    add(CircuitMapKind::qk_positions, positional_pattern(head, shared.positions));
  if (const auto earlier = most_read_by(heads, composing)) {
    const HeadWeights& read = heads[*earlier].weights;
    add(CircuitMapKind::k_composition, composed_scores(read, head, shared.tokens));
    maps.back().earlier_layer = read.layer;
    maps.back().earlier_head = read.head;
  }
  return maps;
}

}  // namespace

std::string_view name_of(CircuitMapKind kind) {
  switch (kind) {
    case CircuitMapKind::ov:
      return "ov";
    case CircuitMapKind::qk_tokens:
      return "qk_tokens";
    case CircuitMapKind::qk_positions:
      return "qk_positions";
    case CircuitMapKind::k_composition:
      break;
  }
  return "k_composition";
}

std::vector<std::int32_t> circuit_tokens(Index vocabulary, Index most) {
  if (vocabulary <= most) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(vocabulary));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  Generator generator(kSeed, Purpose::probe);
  std::vector<std::int32_t> sample = distinct_tokens(generator, vocabulary, most);
  std::sort(sample.begin(), sample.end());
  return sample;
}

Tensor positional_pattern(const HeadWeights& head, const Tensor& positions) {
  const Index count = positions.shape()[0];
  const Index width = head.query.shape()[1];
  const Variable q(product(positions, head.query).reshaped({1, count, width}));
  const Variable k(product(positions, head.key).reshaped({1, count, width}));
  const Variable pattern = attention_pattern(q, k, 1);
  Tensor values = Tensor::uninitialised({count, count});
  std::copy_n(pattern.data(), count * count, values.data());
  return values;
}

CircuitMaps circuit_maps(const Transformer& model, const CircuitOptions& options) {
  const ModelConfig& config = model.config();
  require(options.tokens >= 1, "[circuits] expected at least 1 token to look at, got {}", options.tokens);
  require(options.positions >= 0 && options.positions <= config.context,
          "[circuits] expected up to {} positions, got {}", config.context, options.positions);
  CircuitMaps result{.tokens = circuit_tokens(config.vocabulary, options.tokens),
                     .positions = options.positions == 0 ? config.context : options.positions,
                     .maps = {}};
  const Shared shared{result.tokens, rows_of(model.parameters().find("embedding.weight"), result.tokens),
                      position_vectors(model, result.positions)};
  std::vector<ComposingHead> heads;
  for (HeadWeights& head : all_head_weights(model, options.scales)) heads.emplace_back(std::move(head));
  std::vector<std::vector<CircuitMap>> of_head(heads.size());
  parallel_for(static_cast<Index>(heads.size()), options.threads, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    of_head[at] = maps_of(model, heads, heads[at], shared);
  });
  for (std::vector<CircuitMap>& maps : of_head)
    std::move(maps.begin(), maps.end(), std::back_inserter(result.maps));
  return result;
}

}  // namespace tapehead
