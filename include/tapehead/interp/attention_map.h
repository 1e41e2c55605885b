/// What single heads look at in one sequence, weight by weight.
#pragma once

#include <vector>

#include "tapehead/nn/transformer.h"
#include "tapehead/tasks/task.h"

namespace tapehead {

struct AttentionMap {
  Index layer = 0;
  Index head = 0;
  /// (T, T): rows are queries, columns are keys; those after the query have no weight.
  std::vector<std::vector<double>> weights = {};
};

/// The maps of these heads (their head outputs), in this order, on a sequence of tokens (1, T). Only their
/// layers' patterns are kept. Throws Error for another number of sequences than one, and for a head that the
/// model does not have.
std::vector<AttentionMap> attention_maps(const Transformer& model, const Tokens& sequence,
                                         const std::vector<Site>& heads);

/// For every query of sequence `b`, the positions after its earlier copies, the nearest first: what an
/// induction head looks at, as its score counts it (see head_scores.h).
std::vector<std::vector<Index>> induction_targets(const Batch& batch, Index b);

}  // namespace tapehead
