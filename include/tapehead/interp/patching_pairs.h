/// Clean sequences and their corrupted twins: what patching is measured on.
///
/// All have one structure, so that a position plays the same part in each. The *query* is the last position
/// whose target can be copied. In the twin, every earlier copy of the query's token is another token, so that
/// what followed it before can no longer be told, while the token to copy is still where it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tapehead/tasks/task.h"

namespace tapehead {

/// The longest sequence that is made for a model whose own data do not repeat by construction, in tokens.
inline constexpr Index kLongestPairs = 64;

/// How many are made unless somebody says.
inline constexpr Index kPatchingSequences = 64;

struct PatchingPairs {
  Batch clean;
  Tokens corrupted;               ///< (B, T); the targets are the clean ones
  Index query = 0;                ///< the position measured
  std::vector<Index> copies;      ///< of the query's token, by repetition, nearest first
  std::optional<Index> sequence;  ///< of which sequence of the batch they have the structure; else of none

  /// The corrupted inputs with the clean targets.
  Batch corrupted_batch() const;
  /// How far back the nearest copy lies, in tokens.
  Index period() const { return query - copies.front(); }
  /// What a position is: "query", "copy" (of the query's token), "after the copy" (the token to copy), or
  /// nothing.
  std::string_view role_of(Index position) const;
};

/// The sequence of the batch with the fewest copies of its query's token, the first of equals. Throws
/// UsageError where none has any.
Index sequence_to_patch(const Batch& batch);

/// `count` pairs with the structure of `sequence` of the batch, which the task drew (by default that of
/// sequence_to_patch). The token put in place of the copies is, where the vocabulary permits, one that stands
/// nowhere else in its sequence, so it makes no match by accident; where it does not, any but the query's
/// own. A task whose sequences do not repeat by construction gives way to random tokens of its vocabulary, a
/// segment repeated once, up to kLongestPairs tokens in all. Throws UsageError for a count below 2, and for a
/// sequence that is not there, that copies nothing, or that repeats a single token.
PatchingPairs patching_pairs(const Task& task, const Batch& batch, std::optional<Index> sequence, Index count,
                             std::uint64_t seed);

}  // namespace tapehead
