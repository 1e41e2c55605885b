#include "tapehead/interp/patching_pairs.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tapehead/base/require.h"
#include "tapehead/tasks/repeated_sequence.h"

namespace tapehead {

namespace {

/// Where the last position that can copy its target stands, or -1.
Index query_of(const Batch& batch, Index b) {
  Index query = batch.length() - 1;
  while (query >= 0 && (batch.kinds(b, query) != Kind::induction || batch.earlier_copy(b, query) < 0))
    --query;
  return query;
}

/// The copies of the query's token, nearest first.
std::vector<Index> copies_of(const Batch& batch, Index b, Index query) {
  std::vector<Index> copies;
  if (query < 0) return copies;
  for (Index at = batch.earlier_copy(b, query); at >= 0; at = batch.earlier_copy(b, at)) copies.push_back(at);
  return copies;
}

/// Whether a copy can be corrupted without the token that follows it.
bool is_apart(const std::vector<Index>& copies, Index query) {
  Index next = query;
  for (const Index copy : copies) {
    if (copy + 1 == next) return false;
    next = copy;
  }
  return !copies.empty();
}

/// One sequence, `count` times.
template <class Value>
Table<Value> repeated(const Table<Value>& table, Index b, Index count) {
  Table<Value> rows(count, table.length());
  for (Index i = 0; i < count; ++i)
    for (Index t = 0; t < table.length(); ++t) rows(i, t) = table(b, t);
  return rows;
}

Batch repeated(const Batch& batch, Index b, Index count) {
  return {repeated(batch.inputs, b, count), repeated(batch.targets, b, count),
          repeated(batch.kinds, b, count), repeated(batch.earlier_copy, b, count)};
}

/// A token for the place of the query's: one that its sequence does not have, if there is one.
std::int32_t other_token(const Batch& clean, Index b, Index query, Index vocabulary, Generator& generator) {
  std::set<std::int32_t> there;
  for (Index t = 0; t < clean.length(); ++t) there.insert({clean.inputs(b, t), clean.targets(b, t)});
  std::vector<std::int32_t> free;
  for (std::int32_t token = 0; token < vocabulary; ++token)
    if (!there.contains(token)) free.push_back(token);
  if (!free.empty()) return free[static_cast<std::size_t>(generator.below(static_cast<Index>(free.size())))];
  const auto token = static_cast<std::int32_t>(generator.below(vocabulary - 1));
  return token < clean.inputs(b, query) ? token : token + 1;
}

PatchingPairs pairs_like(const Task& task, const Batch& batch, Index sequence, Index vocabulary, Index count,
                         Generator& generator) {
  const Batch structure = repeated(batch, sequence, count);
  PatchingPairs pairs{.clean = task.resample(structure, generator),
                      .corrupted = {},
                      .query = query_of(batch, sequence),
                      .copies = copies_of(batch, sequence, query_of(batch, sequence)),
                      .sequence = sequence};
  require(pairs.clean.kinds == structure.kinds && pairs.clean.earlier_copy == structure.earlier_copy,
          "[patching] the task drew sequences of another structure than asked for");
  pairs.corrupted = pairs.clean.inputs;
  for (Index b = 0; b < count; ++b) {
    const std::int32_t token = other_token(pairs.clean, b, pairs.query, vocabulary, generator);
    for (const Index copy : pairs.copies) pairs.corrupted(b, copy) = token;
  }
  return pairs;
}

/// For a model whose data do not repeat by construction.
PatchingPairs random_pairs(const Task& task, Index count, Generator& generator) {
  const std::shared_ptr<const Tokenizer> tokenizer = task.tokenizer();
  const Index vocabulary = tokenizer ? tokenizer->size() : task.vocabulary();
  const Index length = std::min(task.length(), kLongestPairs);
  if (length < 3)
    throw UsageError(fmt::format("[patching] {} positions are too few for a segment that repeats", length));
  const FixedPeriodSequence repeats({.vocabulary = vocabulary, .length = length, .period = (length + 1) / 2});
  PatchingPairs pairs = pairs_like(repeats, repeats.sample(generator, 1), 0, vocabulary, count, generator);
  pairs.sequence = std::nullopt;
  return pairs;
}

}  // namespace

Batch PatchingPairs::corrupted_batch() const {
  return {corrupted, clean.targets, clean.kinds, clean.earlier_copy};
}

std::string_view PatchingPairs::role_of(Index position) const {
  if (position == query) return "query";
  if (std::ranges::find(copies, position) != copies.end()) return "copy";
  if (std::ranges::find(copies, position - 1) != copies.end()) return "after the copy";
  return "";
}

Index sequence_to_patch(const Batch& batch) {
  std::optional<Index> chosen;
  std::size_t fewest = 0;
  for (Index b = 0; b < batch.size(); ++b) {
    const Index query = query_of(batch, b);
    const std::vector<Index> copies = copies_of(batch, b, query);
    if (!is_apart(copies, query) || (chosen && copies.size() >= fewest)) continue;
    chosen = b;
    fewest = copies.size();
  }
  if (!chosen) throw UsageError("[patching] none of the sequences repeats a segment of at least two tokens");
  return *chosen;
}

PatchingPairs patching_pairs(const Task& task, const Batch& batch, std::optional<Index> sequence, Index count,
                             std::uint64_t seed) {
  if (count < 2)
    throw UsageError(fmt::format(
        "[patching] expected at least 2 sequences, without which there is no spread, got {}", count));
  Generator generator(seed, Purpose::evaluation, 0, 1);  // shard 0 is the evaluation batch
  if (!task.periods()) {
    if (sequence)
      throw UsageError(
          "[patching] the sequences of this task do not repeat by construction: random ones take "
          "their place, and there is none to choose");
    return random_pairs(task, count, generator);
  }
  if (sequence && (*sequence < 0 || *sequence >= batch.size()))
    throw UsageError(
        fmt::format("[patching] expected a sequence from 0 to {}, got {}", batch.size() - 1, *sequence));
  const Index chosen = sequence ? *sequence : sequence_to_patch(batch);
  const Index query = query_of(batch, chosen);
  if (!is_apart(copies_of(batch, chosen, query), query))
    throw UsageError(fmt::format(
        "[patching] sequence {} does not repeat a segment of at least two tokens: choose another", chosen));
  return pairs_like(task, batch, chosen, task.vocabulary(), count, generator);
}

}  // namespace tapehead
