#include "tapehead/interp/attribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/head_weights.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/tensor/gemm.h"

namespace tapehead {

namespace {

constexpr double kTolerance = sizeof(Real) == 8 ? 1e-10 : 1e-4;
constexpr std::size_t kKinds = kAttributionKinds.size();

/// A number a position: a component's part, or the logit itself.
using Parts = std::vector<double>;

std::string block(Index layer, const char* rest) { return fmt::format("blocks.{}.{}", layer, rest); }

const Real* find(const Transformer& model, const std::string& name) {
  return model.parameters().find(name).data();
}

double dot(const Real* a, const Real* b, Index count) {
  double sum = 0;
  for (Index i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

bool has_final_bias(const ModelConfig& config) { return config.norm == NormKind::layer && config.bias; }

/// The components of a model, without their parts, in the order in which parts_of gives them.
std::vector<Component> components_of(const ModelConfig& config) {
  std::vector<Component> components{{.name = "token_embedding"}};
  if (adds_positions(config)) components.push_back({.name = "positions"});
  for (Index layer = 0; layer < config.layers; ++layer) {
    for (Index head = 0; head < config.heads; ++head)
      components.push_back({.name = "head", .layer = layer, .head = head});
    if (config.bias) components.push_back({.name = "attention_bias", .layer = layer});
    if (config.feed_forward > 0) components.push_back({.name = "feed_forward", .layer = layer});
  }
  if (has_final_bias(config)) components.push_back({.name = "final_norm_bias"});
  return components;
}

std::vector<Site> sites_read(const ModelConfig& config) {
  std::vector<Site> sites{config.layers == 0 ? embedding_site() : residual_after(config.layers - 1)};
  for (Index layer = 0; layer < config.layers; ++layer) {
    sites.push_back(head_output(layer));
    if (config.feed_forward > 0) sites.push_back(feed_forward_output(layer));
  }
  return sites;
}

/// Rows of the read-out as directions in the stream before the final norm, but for its factor: times the
/// gain, then, of a LayerNorm, without their mean.
Tensor in_the_stream(const Transformer& model, Tensor rows) {
  const NormKind norm = model.config().norm;
  if (norm == NormKind::none) return rows;
  const Index width = model.config().width;
  const Real* gain = find(model, "final_norm.gain");
  for (Real* row = rows.data(); row != rows.data() + rows.count(); row += width) {
    double mean = 0;
    if (norm == NormKind::layer)
      for (Index c = 0; c < width; ++c)
        mean += static_cast<double>(row[c]) * static_cast<double>(gain[c]) / static_cast<double>(width);
    for (Index c = 0; c < width; ++c)
      row[c] = static_cast<Real>(static_cast<double>(row[c]) * static_cast<double>(gain[c]) - mean);
  }
  return rows;
}

/// One shard's passage through the model, taken apart along directions of the final stream.
class Reading {
 public:
  /// The shard's pass; its logits are `logits`.
  Reading(const Transformer& model, const Tokens& inputs)
      : model_(model), inputs_(inputs), seen_(sites_read(model.config())) {
    logits_ = model(Pass().watched_by({seen_}), inputs);
    const ModelConfig& config = model.config();
    const Tensor stream = seen_.at(sites_read(config).front());
    scales_.assign(static_cast<std::size_t>(inputs.count()), 1);
    const auto width = static_cast<std::size_t>(config.width);
    for (std::size_t i = 0; i < scales_.size(); ++i)
      scales_[i] = Norm::scale_of(config.norm, {stream.data() + i * width, width});
  }

  const Variable& logits() const { return logits_; }

  /// Every component's part along one direction a position: `plain` (N, C) are rows of the read-out.
  std::vector<Parts> parts_along(const Tensor& plain) const {
    const ModelConfig& config = model_.config();
    const Index width = config.width;
    const Tensor directions = in_the_stream(model_, plain);
    std::vector<Parts> parts;
    const auto add = [&](const auto& vector_at) {
      Parts& part = parts.emplace_back();
      for (Index i = 0; i < inputs_.count(); ++i)
        part.push_back(scale(i) * dot(directions.data() + i * width, vector_at(i), width));
    };
    const Real* embedding = find(model_, "embedding.weight");
    add([&](Index i) { return embedding + inputs_.data()[i] * width; });
    const Tensor positions = position_vectors(model_, inputs_.length());
    if (positions.count() > 0) add([&](Index i) { return positions.data() + i % inputs_.length() * width; });
    for (Index layer = 0; layer < config.layers; ++layer) {
      add_heads(parts, directions, layer);
      if (config.bias) {
        const Real* bias = find(model_, block(layer, "attention.output.bias"));
        add([&](Index) { return bias; });
      }
      if (config.feed_forward == 0) continue;
      const Tensor written = seen_.at(feed_forward_output(layer));
      add([&](Index i) { return written.data() + i * width; });
    }
    if (!has_final_bias(config)) return parts;
    Parts& part = parts.emplace_back();
    const Real* bias = find(model_, "final_norm.bias");
    for (Index i = 0; i < inputs_.count(); ++i) part.push_back(dot(plain.data() + i * width, bias, width));
    return parts;
  }

 private:
  double scale(Index i) const { return scales_[static_cast<std::size_t>(i)]; }

  void add_heads(std::vector<Parts>& parts, const Tensor& directions, Index layer) const {
    const Index width = model_.config().width;
    const Index heads = model_.config().heads;
    const Index head_width = width / heads;
    const Tensor outputs = seen_.at(head_output(layer));
    // What of every head's output goes along the direction: the projection, (C, H*D), read backward.
    Tensor read = Tensor::uninitialised({inputs_.count(), width});
    gemm(read.data(), width, {directions.data(), width},
         {find(model_, block(layer, "attention.output.weight")), width}, inputs_.count(), width, width, 1, 0);
    for (Index head = 0; head < heads; ++head) {
      Parts& part = parts.emplace_back();
      for (Index i = 0; i < inputs_.count(); ++i) {
        const Index at = i * width + head * head_width;
        part.push_back(scale(i) * dot(read.data() + at, outputs.data() + at, head_width));
      }
    }
  }

  const Transformer& model_;
  const Tokens& inputs_;
  Recorder seen_;
  Variable logits_;
  std::vector<double> scales_;
};

/// Sums over the positions of each kind.
struct Sums {
  std::vector<std::array<AttributedPart, kKinds>> components;
  std::array<AttributedPart, kKinds> logits{};
  std::array<Index, kKinds> positions{};
  double largest_error = 0;
  double relative_error = 0;
};

void add_at(std::array<AttributedPart, kKinds>& sums, Kind kind, double logit, double above_mean) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{kind == Kind::induction ? 1U : 2U}}) {
    sums[i].logit += logit;
    sums[i].above_mean += above_mean;
  }
}

void note_error(Sums& sums, double sum, double magnitude, double logit) {
  const double error = std::abs(sum - logit);
  const double relative = error / (1 + magnitude);
  // A maximum would lose what is not a number.
  constexpr double broken = std::numeric_limits<double>::infinity();
  sums.largest_error = std::max(sums.largest_error, std::isnan(error) ? broken : error);
  sums.relative_error = std::max(sums.relative_error, std::isnan(relative) ? broken : relative);
}

Sums sums_of(const Transformer& model, const Batch& shard, const Tensor& mean_row) {
  const Index width = model.config().width;
  const Index vocabulary = model.config().vocabulary;
  const Reading reading(model, shard.inputs);
  const std::span<const std::int32_t> targets = shard.targets.values();
  Tensor right =
      rows_of(model.parameters().find(readout_name(model.config())), {targets.begin(), targets.end()});
  const std::vector<Parts> of_logit = reading.parts_along(right);
  for (Index i = 0; i < right.count(); ++i) right.data()[i] -= mean_row.data()[i % width];
  const std::vector<Parts> above_mean = reading.parts_along(right);

  Sums sums;
  sums.components.resize(of_logit.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Kind kind = shard.kinds.values()[i];
    const Real* row = reading.logits().data() + static_cast<Index>(i) * vocabulary;
    double mean = 0;
    for (Index v = 0; v < vocabulary; ++v) mean += static_cast<double>(row[v]);
    const auto logit = static_cast<double>(row[targets[i]]);
    const double above = logit - mean / static_cast<double>(vocabulary);
    double sum = 0;
    double sum_above = 0;
    double magnitude = 0;
    for (std::size_t c = 0; c < of_logit.size(); ++c) {
      add_at(sums.components[c], kind, of_logit[c][i], above_mean[c][i]);
      sum += of_logit[c][i];
      sum_above += above_mean[c][i];
      magnitude += std::abs(of_logit[c][i]);
    }
    add_at(sums.logits, kind, logit, above);
    note_error(sums, sum, magnitude, logit);
    note_error(sums, sum_above, magnitude, above);
    ++sums.positions[0];
    ++sums.positions[kind == Kind::induction ? 1 : 2];
  }
  return sums;
}

/// The mean over the vocabulary of the read-out's rows, (C).
Tensor mean_readout(const Transformer& model) {
  const Parameter readout = model.parameters().find(readout_name(model.config()));
  const Index width = readout.shape[1];
  std::vector<double> sums(static_cast<std::size_t>(width));
  for (Index i = 0; i < readout.shape.count(); ++i)
    sums[static_cast<std::size_t>(i % width)] += static_cast<double>(readout.data()[i]);
  Tensor mean({width});
  for (Index c = 0; c < width; ++c)
    mean.data()[c] =
        static_cast<Real>(sums[static_cast<std::size_t>(c)] / static_cast<double>(readout.shape[0]));
  return mean;
}

void add(std::array<AttributedPart, kKinds>& to, const std::array<AttributedPart, kKinds>& from) {
  for (std::size_t i = 0; i < kKinds; ++i) {
    to[i].logit += from[i].logit;
    to[i].above_mean += from[i].above_mean;
  }
}

void divide(std::array<AttributedPart, kKinds>& sums, const std::array<Index, kKinds>& positions) {
  for (std::size_t i = 0; i < kKinds; ++i) {
    const double count =
        positions[i] == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(positions[i]);
    sums[i].logit /= count;
    sums[i].above_mean /= count;
  }
}

}  // namespace

Attribution attribute_logits(const Transformer& model, const Batch& batch, const EvaluateOptions& options) {
  require(options.shard >= 1, "[attribution] expected shards of at least 1 sequence, got {}", options.shard);
  require(batch.size() >= 1, "[attribution] a batch without sequences");
  const Tensor mean_row = mean_readout(model);
  std::vector<Sums> shards(static_cast<std::size_t>((batch.size() + options.shard - 1) / options.shard));
  parallel_for(static_cast<Index>(shards.size()), options.threads, [&](Index i) {
    const Index first = i * options.shard;
    const Batch shard = batch.rows(first, std::min(options.shard, batch.size() - first));
    shards[static_cast<std::size_t>(i)] = sums_of(model, shard, mean_row);
  });

  Attribution attribution{.components = components_of(model.config())};
  for (const Sums& shard : shards) {
    ensure(shard.components.size() == attribution.components.size(), "[attribution] a component has no part");
    for (std::size_t c = 0; c < shard.components.size(); ++c)
      add(attribution.components[c].parts, shard.components[c]);
    add(attribution.logits, shard.logits);
    for (std::size_t kind = 0; kind < kKinds; ++kind) attribution.positions[kind] += shard.positions[kind];
    attribution.largest_error = std::max(shard.largest_error, attribution.largest_error);
    attribution.relative_error = std::max(shard.relative_error, attribution.relative_error);
  }
  require(attribution.relative_error <= kTolerance,
          "[attribution] the parts do not sum to the logits: one sum is {:.3g} off, which is {:.3g} of its "
          "parts, where rounding gives at most {:.3g}",
          attribution.largest_error, attribution.relative_error, kTolerance);
  for (Component& component : attribution.components) divide(component.parts, attribution.positions);
  divide(attribution.logits, attribution.positions);
  return attribution;
}

CsvTable attribution_table(const Attribution& attribution, Index step, Index sequences) {
  CsvTable table({"component", "layer", "head", "kind", "logit", "above_mean", "positions", "largest_error",
                  "step", "sequences"});
  const auto add_rows = [&](const std::string& name, Index layer, Index head,
                            const std::array<AttributedPart, kKinds>& parts) {
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      table.add({name, layer == kNoLayer ? "" : std::to_string(layer),
                 head == kAllHeads ? "" : std::to_string(head), std::string(kAttributionKinds[kind]),
                 csv_cell(parts[kind].logit), csv_cell(parts[kind].above_mean),
                 std::to_string(attribution.positions[kind]), csv_cell(attribution.largest_error),
                 std::to_string(step), std::to_string(sequences)});
  };
  for (const Component& component : attribution.components)
    add_rows(component.name, component.layer, component.head, component.parts);
  add_rows("sum", kNoLayer, kAllHeads, attribution.logits);
  return table;
}

}  // namespace tapehead
