#include "tapehead/interp/head_weights.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "tapehead/base/require.h"
#include "tapehead/nn/sinusoids.h"
#include "tapehead/tensor/gemm.h"

namespace tapehead {

namespace {

const Real* parameter(const Transformer& model, const std::string& name) {
  return model.parameters().find(name).data();
}

/// The norm before a weight, which acts on a row as x -> (x - mean) * gain * scale.
struct FoldedNorm {
  const Real* gain;  ///< null where there is no norm
  bool centres;      ///< an RMSNorm takes no mean off
  double scale;
};

/// Rows first, ..., first + D - 1 of a weight (outputs, C) as columns of a matrix (C, D), with the norm
/// before it.
Tensor read_matrix(const Real* weight, FoldedNorm norm, Index first, Index width, Index head_width) {
  const auto& [gain, centres, scale] = norm;
  Tensor matrix = Tensor::uninitialised({width, head_width});
  for (Index d = 0; d < head_width; ++d) {
    const Real* row = weight + (first + d) * width;
    double mean = 0;
    if (gain != nullptr && centres)
      for (Index c = 0; c < width; ++c)
        mean += static_cast<double>(gain[c]) * static_cast<double>(row[c]) / static_cast<double>(width);
    for (Index c = 0; c < width; ++c) {
      const auto plain = static_cast<double>(row[c]);
      const double folded = gain == nullptr ? plain : scale * (static_cast<double>(gain[c]) * plain - mean);
      matrix.data()[c * head_width + d] = static_cast<Real>(folded);
    }
  }
  return matrix;
}

/// Adds up the factors of the norms before attention: a sum a layer and sequence of the batch.
class ScaleWatcher : public Watcher {
 public:
  ScaleWatcher(const ModelConfig& config, Index sequences)
      : kind_(config.norm), sums_(config.layers, sequences) {}

  void check(const ModelConfig&) const override {}
  Variable visit(const Visit& at, const Variable& value) override {
    if (at.site.kind != SiteKind::residual_before) return value;
    const Shape& shape = value.shape();
    const auto width = static_cast<std::size_t>(shape[2]);
    for (Index row = 0; row < shape[0] * shape[1]; ++row)
      sums_(at.site.layer, at.first_sequence + row / shape[1]) +=
          Norm::scale_of(kind_, {value.data() + row * shape[2], width});
    return value;
  }
  void finish(const std::vector<Site>&) const override {}

  double mean(Index layer, Index length) const {
    double total = 0;
    for (Index b = 0; b < sums_.length(); ++b) total += sums_(layer, b);
    return total / static_cast<double>(sums_.length() * length);
  }

 private:
  NormKind kind_;
  Table<double> sums_;  // passes write to columns of their own
};

}  // namespace

HeadWeights head_weights(const Transformer& model, Index layer, Index head, double scale) {
  const ModelConfig& config = model.config();
  require_site(head_output(layer, head), config);
  const Index width = config.width;
  const Index head_width = width / config.heads;
  const std::string block = fmt::format("blocks.{}.", layer);
  const FoldedNorm norm{
      config.norm == NormKind::none ? nullptr : parameter(model, block + "attention_norm.gain"),
      config.norm == NormKind::layer, scale};
  const Real* qkv = parameter(model, block + "attention.qkv.weight");
  const Real* projection = parameter(model, block + "attention.output.weight");
  const auto read = [&](Index part) {
    return read_matrix(qkv, norm, part * width + head * head_width, width, head_width);
  };
  Tensor output = Tensor::uninitialised({head_width, width});
  for (Index d = 0; d < head_width; ++d)
    for (Index c = 0; c < width; ++c)
      output.data()[d * width + c] = projection[c * width + head * head_width + d];
  Tensor query = read(0);
  const bool is_product = has_bilinear_scores(config);
  if (is_product && config.scores == ScoreForm::bilinear) {
    const Real* matrices = parameter(model, block + "attention.bilinear");
    const Index size = head_width * head_width;
    const Tensor matrix({head_width, head_width},
                        std::span(matrices + head * size, static_cast<std::size_t>(size)));
    query = product_transposed(query, matrix);
  }
  if (is_product && !config.scaled_scores)
    for (Real& number : query.values()) number *= std::sqrt(static_cast<Real>(head_width));
  return {layer, head, std::move(query), read(1), read(2), std::move(output)};
}

std::vector<HeadWeights> all_head_weights(const Transformer& model, const std::vector<double>& scales) {
  const ModelConfig& config = model.config();
  require(scales.empty() || static_cast<Index>(scales.size()) == config.layers,
          "[circuits] expected a scale for each of {} layers, got {}", config.layers, scales.size());
  std::vector<HeadWeights> heads;
  for (Index layer = 0; layer < config.layers; ++layer)
    for (Index head = 0; head < config.heads; ++head)
      heads.push_back(
          head_weights(model, layer, head, scales.empty() ? 1 : scales[static_cast<std::size_t>(layer)]));
  return heads;
}

std::vector<double> attention_scales(const Transformer& model, const Batch& batch,
                                     const EvaluateOptions& options) {
  const ModelConfig& config = model.config();
  std::vector<double> scales(static_cast<std::size_t>(config.layers), 1);
  if (config.norm == NormKind::none || scales.empty()) return scales;
  ScaleWatcher watcher(config, batch.size());
  evaluate(model, batch, {watcher}, options);
  for (Index layer = 0; layer < config.layers; ++layer)
    scales[static_cast<std::size_t>(layer)] = watcher.mean(layer, batch.length());
  return scales;
}

Tensor position_vectors(const Transformer& model, Index count) {
  const ModelConfig& config = model.config();
  require(count >= 0 && count <= config.context, "[circuits] expected 0 to {} positions, got {}",
          config.context, count);
  if (!adds_positions(config)) return Tensor({0, config.width});
  if (config.positions == Positions::sinusoidal) return sinusoids(count, config.width);
  return constant(model.parameters().find("positions.weight").rows(0, count)).value();
}

std::string_view readout_name(const ModelConfig& config) {
  return config.tied ? "embedding.weight" : "unembedding.weight";
}

Tensor before_readout(const Transformer& model, Tensor x) {
  const ModelConfig& config = model.config();
  const Index width = config.width;
  require(x.shape().rank() == 2 && x.shape()[1] == width, "[circuits] expected rows (N, {}), got {}", width,
          x.shape());
  if (config.norm == NormKind::none) return x;
  const Real* gain = parameter(model, "final_norm.gain");
  for (Index i = 0; i < x.shape()[0]; ++i) {
    Real* row = x.data() + i * width;
    double mean = 0;
    if (config.norm == NormKind::layer)
      for (Index c = 0; c < width; ++c) mean += static_cast<double>(row[c]) / static_cast<double>(width);
    for (Index c = 0; c < width; ++c)
      row[c] = static_cast<Real>((static_cast<double>(row[c]) - mean) * static_cast<double>(gain[c]));
  }
  return x;
}

Tensor output_to_logits(const Transformer& model, const HeadWeights& head) {
  const Tensor output = before_readout(model, head.output);
  const Parameter readout = model.parameters().find(readout_name(model.config()));
  const Index rows = output.shape()[0];
  const Index width = output.shape()[1];
  const Index vocabulary = readout.shape[0];
  Tensor logits = Tensor::uninitialised({rows, vocabulary});
  gemm(logits.data(), vocabulary, {output.data(), width}, {readout.data(), width, true}, rows, vocabulary,
       width, 1, 0);
  return logits;
}

Tensor rows_of(const Parameter& table, const std::vector<std::int32_t>& ids) {
  const Index width = table.shape[1];
  Tensor rows = Tensor::uninitialised({static_cast<Index>(ids.size()), width});
  Real* next = rows.data();
  for (const std::int32_t id : ids) {
    require(id >= 0 && id < table.shape[0], "[circuits] no row {} of {}", id, table.shape[0]);
    next = std::copy_n(table.data() + id * width, width, next);
  }
  return rows;
}

Tensor product(const Tensor& a, const Tensor& b) {
  require(a.shape().rank() == 2 && b.shape().rank() == 2 && a.shape()[1] == b.shape()[0],
          "[circuits] expected matrices (M, K) and (K, N), got {} and {}", a.shape(), b.shape());
  Tensor c = Tensor::uninitialised({a.shape()[0], b.shape()[1]});
  gemm(c.data(), b.shape()[1], {a.data(), a.shape()[1]}, {b.data(), b.shape()[1]}, a.shape()[0], b.shape()[1],
       a.shape()[1], 1, 0);
  return c;
}

Tensor product_transposed(const Tensor& a, const Tensor& b) {
  require(a.shape().rank() == 2 && b.shape().rank() == 2 && a.shape()[1] == b.shape()[1],
          "[circuits] expected matrices (M, K) and (N, K), got {} and {}", a.shape(), b.shape());
  Tensor c = Tensor::uninitialised({a.shape()[0], b.shape()[0]});
  gemm(c.data(), b.shape()[0], {a.data(), a.shape()[1]}, {b.data(), b.shape()[1], true}, a.shape()[0],
       b.shape()[0], a.shape()[1], 1, 0);
  return c;
}

}  // namespace tapehead
