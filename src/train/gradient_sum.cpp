#include "tapehead/train/gradient_sum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/train/optimizer.h"

namespace tapehead {

namespace {

/// Numbers that are exchanged at once: what is received stays small beside the gradients.
constexpr Index kSegment = Index{1} << 22;

/// Where a subtree ends that begins at `first` and spans 2^k shards.
Index end_of(Index first, Index span, Index shards) { return std::min(first + span, shards); }

/// Adds those subtrees that lie within a range into their first set, at places begin, ..., end - 1. Null is a
/// set that was added to one before it already.
void add_within(ShardRange range, const std::vector<Real*>& sets, Index begin, Index end) {
  const Index shards = static_cast<Index>(sets.size());
  for (Index apart = 1; apart < shards; apart *= 2)
    for (Index i = 0; i + apart < shards; i += 2 * apart) {
      const Real* other = sets[static_cast<std::size_t>(i + apart)];
      if (i < range.first || end_of(i, 2 * apart, shards) > range.last || other == nullptr) continue;
      Real* sum = sets[static_cast<std::size_t>(i)];
      for (Index j = begin; j < end; ++j) sum[j] += other[j];
    }
}

/// The places that a rank finishes, of `count`.
struct Part {
  Part(Index count, int rank, int ranks) : begin(count * rank / ranks), end(count * (rank + 1) / ranks) {}
  Index size() const { return end - begin; }
  Index begin;
  Index end;
};

std::span<Real> stretch(Real* numbers, const Part& part) {
  return {numbers + part.begin, static_cast<std::size_t>(part.size())};
}

/// The part of a sum over ranks that is exchanged at once.
class Segment {
 public:
  /// `sets[i]` is shard i's place in memory, where the segment begins; null where it is another rank's, or
  /// part of a sum.
  Segment(std::vector<Real*> sets, Index count, const Workers& workers)
      : sets_(std::move(sets)), count_(count), workers_(workers) {}

  /// Puts the sum at `total`, which may be one of the sets.
  void sum_into(Real* total) {
    const std::vector<Real*> sets = exchanged();
    const Part mine = part_of(ranks().rank());
    Real* sum = total + mine.begin;
    for_each_chunk(mine.size(), workers_.threads, [&](Index begin, Index end) {
      add_within({0, shards()}, sets, begin, end);
      if (sets[0] != sum) std::copy(sets[0] + begin, sets[0] + end, sum + begin);
    });
    share(total);
  }

 private:
  Ranks& ranks() const { return workers_.ranks; }
  Index shards() const { return static_cast<Index>(sets_.size()); }
  Part part_of(int rank) const { return {count_, rank, ranks().count()}; }
  std::vector<Index> subtrees_of(int rank) const {
    return subtrees_within(owned_shards(shards(), rank, ranks().count()), shards());
  }

  /// All ranks' sums, of this rank's part alone.
  std::vector<Real*> exchanged() {
    const Part mine = part_of(ranks().rank());
    std::vector<Real*> sets(sets_.size(), nullptr);
    std::vector<Ranks::Outgoing> outgoing;
    std::vector<Ranks::Incoming> incoming;
    for (const Index first : subtrees_of(ranks().rank())) {
      Real* own = sets_[static_cast<std::size_t>(first)];
      sets[static_cast<std::size_t>(first)] = own + mine.begin;
      for (int other = 0; other < ranks().count(); ++other)
        if (other != ranks().rank()) outgoing.push_back({other, stretch(own, part_of(other))});
    }
    for (int other = 0; other < ranks().count(); ++other) {
      if (other == ranks().rank()) continue;
      for (const Index first : subtrees_of(other)) {
        received_.push_back(Tensor::uninitialised({mine.size()}));
        incoming.push_back({other, received_.back().values()});
        sets[static_cast<std::size_t>(first)] = received_.back().data();
      }
    }
    ranks().exchange(outgoing, incoming, "gradient sums");
    return sets;
  }

  /// Every rank gets all other parts of the total.
  void share(Real* total) const {
    std::vector<Ranks::Outgoing> outgoing;
    std::vector<Ranks::Incoming> incoming;
    for (int other = 0; other < ranks().count(); ++other) {
      if (other == ranks().rank()) continue;
      outgoing.push_back({other, stretch(total, part_of(ranks().rank()))});
      incoming.push_back({other, stretch(total, part_of(other))});
    }
    ranks().exchange(outgoing, incoming, "summed gradients");
  }

  std::vector<Real*> sets_;
  const Index count_;
  const Workers& workers_;
  std::vector<Tensor> received_;
};

}  // namespace

ShardRange owned_shards(Index shards, int rank, int ranks) {
  return {shards * rank / ranks, shards * (rank + 1) / ranks};
}

std::vector<Index> subtrees_within(ShardRange range, Index shards) {
  std::vector<Index> firsts;
  for (Index first = range.first; first < range.last;) {
    firsts.push_back(first);
    Index span = 1;
    while (first % (2 * span) == 0 && end_of(first, span, shards) < shards &&
           end_of(first, 2 * span, shards) <= range.last)
      span *= 2;
    first = end_of(first, span, shards);
  }
  return firsts;
}

GradientSum sum_in_tree(std::vector<Gradients> own, Index shards, Index numbers, const Workers& workers) {
  Ranks& ranks = workers.ranks;
  const ShardRange range = owned_shards(shards, ranks.rank(), ranks.count());
  ensure(static_cast<Index>(own.size()) == range.count(), "{} gradient sets of {} shards", own.size(),
         range.count());
  std::vector<Real*> sets(static_cast<std::size_t>(shards), nullptr);
  for (std::size_t i = 0; i < own.size(); ++i)
    sets[static_cast<std::size_t>(range.first) + i] = own[i].data();
  const Real* total = own.empty() ? nullptr : own.front().data();
  // The norm is taken while the sum is in the cache, if that is all of it.
  const auto add = [&](Index begin, Index end) {
    add_within(range, sets, begin, end);
    return ranks.alone() ? sum_of_squares({total + begin, total + end}) : 0;
  };
  double squares = sum_over_chunks(numbers, workers.threads, add);
  Gradients sum = own.empty() ? Gradients::uninitialised({numbers}) : std::move(own.front());
  if (ranks.alone()) return {std::move(sum), std::sqrt(squares)};

  std::vector<Real*> sums(sets.size(), nullptr);
  for (const Index first : subtrees_within(range, shards))
    sums[static_cast<std::size_t>(first)] = sets[static_cast<std::size_t>(first)];
  for (Index begin = 0; begin < numbers; begin += kSegment) {
    std::vector<Real*> there = sums;
    for (Real*& set : there)
      if (set != nullptr) set += begin;
    Segment(std::move(there), std::min(kSegment, numbers - begin), workers).sum_into(sum.data() + begin);
  }
  squares = sum_over_chunks(numbers, workers.threads, [&](Index begin, Index end) {
    return sum_of_squares({sum.data() + begin, sum.data() + end});
  });
  return {std::move(sum), std::sqrt(squares)};
}

}  // namespace tapehead
