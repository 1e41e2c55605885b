/// A model's losses and hits on a batch, position by position.
#pragma once

#include <vector>

#include "tapehead/nn/transformer.h"
#include "tapehead/tasks/task.h"

namespace tapehead {

struct Evaluation {
  Tensor losses;      ///< (B, T), in nats
  Tensor hits;        ///< (B, T), 1 where the largest logit (the first of equals) is the target's
  Table<Kind> kinds;  ///< (B, T)

  /// The mean over all positions, or over those of one kind; NaN where there are none.
  double loss() const;
  double loss(Kind kind) const;
  /// exp of the mean loss: among how many equally likely tokens it chooses, as it were.
  double perplexity() const;
  double accuracy() const;
  double accuracy(Kind kind) const;
  /// One mean a sequence, over its positions of one kind; NaN for a sequence that has none.
  std::vector<double> loss_by_sequence(Kind kind) const;
  std::vector<double> accuracy_by_sequence(Kind kind) const;
  std::vector<double> loss_by_sequence() const;
};

/// What the targets cost a byte of their text, in bits, so that models with different tokens can be compared.
double bits_per_byte(const Evaluation& evaluation, const Tokens& targets, const Tokenizer& tokenizer);

struct EvaluateOptions {
  int threads = 1;
  Index shard = 16;        ///< sequences a pass
  Ranks* ranks = nullptr;  ///< that share out the shards, if there are any
};

/// Runs the model over the batch, a shard at a time, without a tape and without dropout. Watchers see every
/// shard, on any of the threads. The result does not depend on the number of threads.
/// Where ranks share it, all of them call it together, and rank 0 has the whole result and what watchers saw;
/// the others have their part, and zeros. Throws Error for a batch without sequences, for targets outside the
/// vocabulary, and for watchers that do not bring together what ranks have seen.
Evaluation evaluate(const Transformer& model, const Batch& batch, const Watch& watch = {},
                    const EvaluateOptions& options = {});

/// The same from what entered a layer, (B, T, C), when this batch was evaluated before: what lies below is
/// not run again, so watchers do not see it, and an edit of it is an error.
Evaluation evaluate_from(const Transformer& model, const Batch& batch, Index layer, const Tensor& residual,
                         const Watch& watch = {}, const EvaluateOptions& options = {});

}  // namespace tapehead
