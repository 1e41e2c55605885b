#include "tapehead/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/kernels/cross_entropy.h"

namespace tapehead {

namespace {

/// The mean of row `b` (all rows: -1) of `values` over the positions of one kind, or of any.
double mean_over(const Tensor& values, const Table<Kind>& kinds, std::optional<Kind> kind, Index b) {
  double total = 0;
  Index count = 0;
  const Index first = b < 0 ? 0 : b * kinds.length();
  const Index last = b < 0 ? kinds.count() : first + kinds.length();
  for (Index i = first; i < last; ++i) {
    if (kind && kinds.data()[i] != *kind) continue;
    total += static_cast<double>(values.data()[i]);
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : total / static_cast<double>(count);
}

std::vector<double> means_by_row(const Tensor& values, const Table<Kind>& kinds, std::optional<Kind> kind) {
  std::vector<double> means;
  for (Index b = 0; b < kinds.batch(); ++b) means.push_back(mean_over(values, kinds, kind, b));
  return means;
}

/// Fills in the losses and hits of the sequences that begin at `first`.
void score(Evaluation& evaluation, Index first, const Tokens& targets, const Variable& logits) {
  const Index vocabulary = logits.shape()[2];
  for (const std::int32_t target : targets.values())
    require(target >= 0 && target < vocabulary, "[evaluate] expected targets from 0 to {}, got {}",
            vocabulary - 1, target);
  const Index offset = first * targets.length();
  kernels::cross_entropy_forward(evaluation.losses.data() + offset, logits.data(), targets.data(),
                                 targets.count(), vocabulary);
  for (Index i = 0; i < targets.count(); ++i) {
    const Real* row = logits.data() + i * vocabulary;
    const Index best = std::max_element(row, row + vocabulary) - row;
    evaluation.hits.data()[offset + i] = best == targets.data()[i] ? 1 : 0;
  }
}

/// Which sequences each rank has, as bounds[r], ..., bounds[r + 1] - 1: whole shards.
std::vector<Index> bounds_of(const Batch& batch, Index shard, int ranks) {
  const Index shards = (batch.size() + shard - 1) / shard;
  std::vector<Index> bounds;
  for (int rank = 0; rank <= ranks; ++rank)
    bounds.push_back(std::min(batch.size(), shard * share_of(shards, rank, ranks).first));
  return bounds;
}

/// Brings every rank's rows to rank 0, and what watchers have seen.
void bring_together(Evaluation& evaluation, const Watch& watch, const std::vector<Index>& bounds,
                    Ranks& ranks) {
  if (ranks.alone()) return;
  std::vector<Index> bytes;
  for (const Index bound : bounds)
    bytes.push_back(bound * evaluation.kinds.length() * static_cast<Index>(sizeof(Real)));
  ranks.collect(std::as_writable_bytes(evaluation.losses.values()), bytes, "evaluation");
  ranks.collect(std::as_writable_bytes(evaluation.hits.values()), bytes, "evaluation");
  for (Watcher& watcher : watch) watcher.bring_together(ranks, bounds);
}

/// Scores what `logits_of(part, first)` gives for every shard `part` of the batch, which begins at `first`.
template <class LogitsOf>
Evaluation evaluate_shards(const Batch& batch, const Watch& watch, const EvaluateOptions& options,
                           const LogitsOf& logits_of) {
  require(options.shard >= 1, "[evaluate] expected shards of at least 1 sequence, got {}", options.shard);
  require(batch.size() >= 1, "[evaluate] a batch without sequences");
  Evaluation evaluation{Tensor({batch.size(), batch.length()}), Tensor({batch.size(), batch.length()}),
                        batch.kinds};
  Ranks& ranks = options.ranks == nullptr ? Ranks::none() : *options.ranks;
  const std::vector<Index> bounds = bounds_of(batch, options.shard, ranks.count());
  const Index begin = bounds[static_cast<std::size_t>(ranks.rank())];
  const Index end = bounds[static_cast<std::size_t>(ranks.rank()) + 1];
  parallel_for((end - begin + options.shard - 1) / options.shard, options.threads, [&](Index shard) {
    const Index first = begin + shard * options.shard;
    const Batch part = batch.rows(first, std::min(options.shard, end - first));
    score(evaluation, first, part.targets, logits_of(part, first));
  });
  bring_together(evaluation, watch, bounds, ranks);
  return evaluation;
}

}  // namespace

double Evaluation::loss() const { return mean_over(losses, kinds, std::nullopt, -1); }
double Evaluation::loss(Kind kind) const { return mean_over(losses, kinds, kind, -1); }
double Evaluation::perplexity() const { return std::exp(loss()); }
double Evaluation::accuracy() const { return mean_over(hits, kinds, std::nullopt, -1); }
double Evaluation::accuracy(Kind kind) const { return mean_over(hits, kinds, kind, -1); }

std::vector<double> Evaluation::loss_by_sequence(Kind kind) const {
  return means_by_row(losses, kinds, kind);
}
std::vector<double> Evaluation::accuracy_by_sequence(Kind kind) const {
  return means_by_row(hits, kinds, kind);
}
std::vector<double> Evaluation::loss_by_sequence() const { return means_by_row(losses, kinds, std::nullopt); }

double bits_per_byte(const Evaluation& evaluation, const Tokens& targets, const Tokenizer& tokenizer) {
  std::size_t bytes = 0;
  for (const std::int32_t id : targets.values()) bytes += tokenizer.bytes_of(id).size();
  const double bits = evaluation.loss() / std::numbers::ln2 * static_cast<double>(evaluation.losses.count());
  return bits / static_cast<double>(bytes);
}

Evaluation evaluate(const Transformer& model, const Batch& batch, const Watch& watch,
                    const EvaluateOptions& options) {
  return evaluate_shards(batch, watch, options, [&](const Batch& part, Index first) {
    return model(Pass().watched_by(watch, first), part.inputs);
  });
}

Evaluation evaluate_from(const Transformer& model, const Batch& batch, Index layer, const Tensor& residual,
                         const Watch& watch, const EvaluateOptions& options) {
  require(residual.shape() == Shape{batch.size(), batch.length(), model.config().width},
          "[evaluate] expected a residual ({}, {}, {}), got {}", batch.size(), batch.length(),
          model.config().width, residual.shape());
  return evaluate_shards(batch, watch, options, [&](const Batch& part, Index first) {
    const Shape shape = residual.shape().with(0, part.size());
    const Real* start = residual.data() + first * residual.shape()[1] * residual.shape()[2];
    const Variable rows(Tensor(shape, std::span(start, static_cast<std::size_t>(shape.count()))));
    return model.from_layer(Pass().watched_by(watch, first), layer, rows);
  });
}

}  // namespace tapehead
