#include "tapehead/interp/composition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tapehead/base/parallel.h"
#include "tapehead/base/random.h"
#include "tapehead/tensor/gemm.h"

namespace tapehead {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr int kDraws = 32;
constexpr std::uint64_t kSeed = 2;

/// xᵀ x, (D, D), for x (C, D).
Tensor gram(const Tensor& x) {
  const Index rows = x.shape()[0];
  const Index columns = x.shape()[1];
  Tensor result = Tensor::uninitialised({columns, columns});
  gemm(result.data(), columns, {x.data(), columns, true}, {x.data(), columns}, columns, columns, rows, 1, 0);
  return result;
}

/// The sum of the products of all elements of a and b: tr(aᵀ b).
double inner(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (Index i = 0; i < a.count(); ++i)
    sum += static_cast<double>(a.data()[i]) * static_cast<double>(b.data()[i]);
  return sum;
}

/// ‖X Yᵀ‖ from the Gram matrices of X and Y, both symmetric; rounding may leave less than nothing.
double norm(const Tensor& x_gram, const Tensor& y_gram) {
  return std::sqrt(std::max(0.0, inner(x_gram, y_gram)));
}

/// Normal numbers.
Tensor drawn(const Shape& shape, Generator& generator) {
  Tensor tensor = Tensor::uninitialised(shape);
  for (Real& value : tensor.values()) value = static_cast<Real>(generator.normal());
  return tensor;
}

ComposingHead drawn_head(Index width, Index head_width, Generator& generator) {
  Tensor query = drawn({width, head_width}, generator);
  Tensor key = drawn({width, head_width}, generator);
  Tensor value = drawn({width, head_width}, generator);
  Tensor output = drawn({head_width, width}, generator);
  return ComposingHead({0, 0, std::move(query), std::move(key), std::move(value), std::move(output)});
}

}  // namespace

ComposingHead::ComposingHead(HeadWeights head)
    : weights(std::move(head)),
      query_gram(gram(weights.query)),
      key_gram(gram(weights.key)),
      value_gram(gram(weights.value)),
      output_gram(product_transposed(weights.output, weights.output)) {}

double composition_score(const ComposingHead& earlier, const ComposingHead& later, Composition how) {
  // The later matrix is L Rᵀ with L the side that reads; with M = W_O L the product is W_V M Rᵀ, whose
  // squared norm is tr(Mᵀ (W_Vᵀ W_V) M (Rᵀ R)).
  const bool by_keys = how == Composition::keys;
  const bool by_values = how == Composition::values;
  const Tensor& reads = by_values ? later.weights.value : by_keys ? later.weights.key : later.weights.query;
  const Tensor& reads_gram = by_values ? later.value_gram : by_keys ? later.key_gram : later.query_gram;
  const Tensor& other_gram = by_values ? later.output_gram : by_keys ? later.query_gram : later.key_gram;
  const Tensor between = product(earlier.weights.output, reads);
  const double squared = inner(product(earlier.value_gram, between), product(between, other_gram));
  const double norms = norm(earlier.value_gram, earlier.output_gram) * norm(reads_gram, other_gram);
  return norms > 0 ? std::sqrt(std::max(0.0, squared)) / norms : kMissing;
}

Baseline composition_baseline(Index width, Index head_width) {
  Generator generator(kSeed, Purpose::probe);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const ComposingHead earlier = drawn_head(width, head_width, generator);
    const ComposingHead later = drawn_head(width, head_width, generator);
    const double score = composition_score(earlier, later, Composition::keys);
    sum += score;
    squares += score * score;
  }
  const double mean = sum / kDraws;
  return {mean, std::sqrt(std::max(0.0, (squares - kDraws * mean * mean) / (kDraws - 1)))};
}

std::vector<double> k_composition_scores(const Transformer& model, int threads) {
  std::vector<ComposingHead> heads;
  for (HeadWeights& weights : all_head_weights(model)) heads.emplace_back(std::move(weights));
  std::vector<double> scores(heads.size(), kMissing);
  if (!has_bilinear_scores(model.config())) return scores;
  parallel_for(static_cast<Index>(heads.size()), threads, [&](Index i) {
    const ComposingHead& later = heads[static_cast<std::size_t>(i)];
    double& largest = scores[static_cast<std::size_t>(i)];
    for (const ComposingHead& earlier : heads)
      if (earlier.weights.layer < later.weights.layer)
        largest = std::fmax(largest, composition_score(earlier, later, Composition::keys));
  });
  return scores;
}

TokenComposition token_composition(const HeadWeights& earlier, const HeadWeights& later,
                                   const Tensor& tokens) {
  return token_composition(earlier, product(tokens, earlier.value), later, product(tokens, later.query));
}

TokenComposition token_composition(const HeadWeights& earlier, const Tensor& token_values,
                                   const HeadWeights& later, const Tensor& token_queries) {
  const Tensor scores =
      product_transposed(token_queries, product(token_values, product(earlier.output, later.key)));
  const Index count = scores.shape()[0];
  double all = 0;
  double diagonal = 0;
  Index on_top = 0;
  for (Index i = 0; i < count; ++i) {
    const Real* row = scores.data() + i * count;
    for (Index j = 0; j < count; ++j) all += static_cast<double>(row[j]);
    diagonal += static_cast<double>(row[i]);
    if (std::count_if(row, row + count, [&](Real score) { return score >= row[i]; }) == 1) ++on_top;
  }
  const auto n = static_cast<double>(count);
  const double root = std::sqrt(static_cast<double>(later.query.shape()[1]));
  return {count == 1 ? kMissing : (diagonal / n - (all - diagonal) / (n * (n - 1))) / root,
          static_cast<double>(on_top) / n};
}

}  // namespace tapehead
