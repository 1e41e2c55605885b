/// The sum of a batch's gradients, in an order that depends on the number of its shards alone.
///
/// Sets 2^k shards apart are added, for k = 0, 1, ...: a tree over the whole batch. A rank owns consecutive
/// shards (share_of), and adds those subtrees that are all its own; the ranks then exchange these sums, so
/// that each finishes the tree for its part of the numbers, and send one another the parts (a reduce-scatter
/// and an all-gather; Thakur et al. 2005, section 4, in the tree's order). So the bits are those of one
/// process.
#pragma once

#include <mutex>
#include <vector>

#include "tapehead/autograd/parameters.h"
#include "tapehead/base/ranks.h"

namespace tapehead {

/// Where the largest subtrees begin that lie within a range.
std::vector<Index> subtrees_within(Range range, Index shards);

/// Neighbours that are added as soon as all of them are there.
inline constexpr Index kShardsAddedAtOnce = 4;

/// Numbers that are exchanged at once: what is received stays small beside the gradients.
inline constexpr Index kSegment = Index{1} << 22;

struct GradientSum {
  Gradients gradients;  ///< of the whole batch, on every rank
  double norm;          ///< its Euclidean norm
};

/// The gradients of the shards that a rank owns, as they come. Sets are added while others are still being
/// made: a block of four neighbours at once, then two neighbours of equal size, so that few are held.
class GradientTree {
 public:
  /// Of a batch of so many shards, with so many numbers in each set.
  GradientTree(Index shards, Index numbers, const Workers& workers);

  /// The gradients of a shard that this rank owns. May be called from several threads at once. Returns
  /// whether these were a block's last, so that sets were added.
  bool put(Index shard, Gradients gradients);
  /// The sum over all shards of all ranks, once all have been put. Called by all ranks together. What a rank
  /// sends: its subtrees' sums, but for the part that it finishes itself, and that part to all others; so
  /// where shards and ranks are powers of two, 2 (R - 1) / R numbers for each of the parameters.
  GradientSum sum();

 private:
  Gradients& set_of(Index shard) { return sets_[static_cast<std::size_t>(shard - range_.first)]; }
  void merge_upwards(std::unique_lock<std::mutex>& lock, Index first, Index span);
  void add(Index first, Index last);

  const Index shards_;
  const Index numbers_;
  const Workers workers_;
  const Range range_;
  std::mutex mutex_;
  std::vector<Gradients> sets_;  // of owned shards; empty where not yet made, or added to one before
  std::vector<Index> made_;      // how many of each block
  std::vector<Index> spans_;     // of the complete subtree that begins at each owned shard; 0: none yet
};

/// How many gradient sets a rank holds while each of its shards is at work on one thread, that shard's among
/// them, and last, how many are left for `sum` to add.
std::vector<Index> sets_held(Range range, Index shards);

}  // namespace tapehead
