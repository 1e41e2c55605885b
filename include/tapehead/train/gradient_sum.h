/// The sum of a batch's gradients, in an order that depends on the number of its shards alone.
///
/// Sets 2^k shards apart are added, for k = 0, 1, ...: a tree over the whole batch. A rank owns consecutive
/// shards, and adds those subtrees that are all its own; the ranks then exchange these sums, so that each
/// finishes the tree for its part of the numbers, and send one another the parts (a reduce-scatter and an
/// all-gather; Thakur et al. 2005, section 4, in the tree's order). So the bits are those of one process.
#pragma once

#include <vector>

#include "tapehead/autograd/parameters.h"
#include "tapehead/base/ranks.h"

namespace tapehead {

/// Shards first, ..., last - 1 of a batch.
struct ShardRange {
  Index first;
  Index last;
  Index count() const { return last - first; }
  friend bool operator==(const ShardRange&, const ShardRange&) = default;
};

/// What a rank owns: as many as the others, or one more or less; none if there are more ranks than shards.
ShardRange owned_shards(Index shards, int rank, int ranks);

/// Where the largest subtrees begin that lie within a range.
std::vector<Index> subtrees_within(ShardRange range, Index shards);

struct GradientSum {
  Gradients gradients;  ///< of the whole batch, on every rank
  double norm;          ///< its Euclidean norm
};

/// `own` are the gradients of the shards that this rank owns, `numbers` in each. What a rank sends, a step:
/// its subtrees' sums, but for the part that it finishes itself, and that part to all others; so where shards
/// and ranks are powers of two, 2 (R - 1) / R numbers for each of the parameters.
GradientSum sum_in_tree(std::vector<Gradients> own, Index shards, Index numbers, const Workers& workers);

}  // namespace tapehead
