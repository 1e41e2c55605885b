#include "tapehead/train/gradient_sum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/train/optimizer.h"

namespace tapehead {

namespace {

constexpr Index kBlock = kShardsAddedAtOnce;
/// Numbers that stay in the cache while they are added.
constexpr Index kCached = Index{1} << 13;

/// Where a subtree ends that begins at `first` and spans 2^k shards.
Index end_of(Index first, Index span, Index shards) { return std::min(first + span, shards); }

/// Adds those subtrees that lie within a range into their first set, at places begin, ..., end - 1. Null is a
/// set that was added to one before it already.
void add_within(Range range, const std::vector<Real*>& sets, Index begin, Index end) {
  const Index shards = static_cast<Index>(sets.size());
  for (Index apart = 1; apart < shards; apart *= 2)
    for (Index i = 0; i + apart < shards; i += 2 * apart) {
      const Real* other = sets[static_cast<std::size_t>(i + apart)];
      if (i < range.first || end_of(i, 2 * apart, shards) > range.last || other == nullptr) continue;
      Real* sum = sets[static_cast<std::size_t>(i)];
      for (Index j = begin; j < end; ++j) sum[j] += other[j];
    }
}

Range block_of(Index shard, Index shards) {
  const Index first = shard / kBlock * kBlock;
  return {first, end_of(first, kBlock, shards)};
}

/// The subtree that one of `span` shards from `first` is half of.
Range pair_of(Index first, Index span, Index shards) {
  const Index left = first / (2 * span) * (2 * span);
  return {left, end_of(left, 2 * span, shards)};
}

bool lies_within(Range inner, Range outer) { return inner.first >= outer.first && inner.last <= outer.last; }

std::span<Real> stretch(Real* numbers, Range part) {
  return {numbers + part.first, static_cast<std::size_t>(part.count())};
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
    const Range mine = part_of(ranks().rank());
    Real* sum = total + mine.first;
    for_each_chunk(mine.count(), workers_.threads, [&](Index begin, Index end) {
      add_within({0, shards()}, sets, begin, end);
      if (sets[0] != sum) std::copy(sets[0] + begin, sets[0] + end, sum + begin);
    });
    share(total);
  }

 private:
  Ranks& ranks() const { return workers_.ranks; }
  Index shards() const { return static_cast<Index>(sets_.size()); }
  /// The places that a rank finishes.
  Range part_of(int rank) const { return share_of(count_, rank, ranks().count()); }
  std::vector<Index> subtrees_of(int rank) const {
    return subtrees_within(share_of(shards(), rank, ranks().count()), shards());
  }

  /// All ranks' sums, of this rank's part alone.
  std::vector<Real*> exchanged() {
    const Range mine = part_of(ranks().rank());
    std::vector<Real*> sets(sets_.size(), nullptr);
    std::vector<Ranks::Outgoing> outgoing;
    std::vector<Ranks::Incoming> incoming;
    for (const Index first : subtrees_of(ranks().rank())) {
      Real* own = sets_[static_cast<std::size_t>(first)];
      sets[static_cast<std::size_t>(first)] = own + mine.first;
      for (int other = 0; other < ranks().count(); ++other)
        if (other != ranks().rank()) outgoing.push_back({other, stretch(own, part_of(other))});
    }
    for (int other = 0; other < ranks().count(); ++other) {
      if (other == ranks().rank()) continue;
      for (const Index first : subtrees_of(other)) {
        received_.push_back(Tensor::uninitialised({mine.count()}));
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

std::vector<Index> subtrees_within(Range range, Index shards) {
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

GradientTree::GradientTree(Index shards, Index numbers, const Workers& workers)
    : shards_(shards),
      numbers_(numbers),
      workers_(workers),
      range_(share_of(shards, workers.ranks.rank(), workers.ranks.count())),
      sets_(static_cast<std::size_t>(range_.count())),
      made_(static_cast<std::size_t>(shards / kBlock + 1)),
      spans_(static_cast<std::size_t>(range_.count())) {}

bool GradientTree::put(Index shard, Gradients gradients) {
  ensure(gradients.count() == numbers_, "gradients of {} parameters, not {}", gradients.count(), numbers_);
  std::unique_lock lock(mutex_);
  set_of(shard) = std::move(gradients);
  const Range block = block_of(shard, shards_);
  const Index made = ++made_[static_cast<std::size_t>(block.first / kBlock)];
  // The last block is added by all threads together, with whatever else is left.
  if (!lies_within(block, range_) || made < block.count() || range_.count() <= kBlock) return false;
  lock.unlock();
  add(block.first, block.last);
  lock.lock();
  merge_upwards(lock, block.first, kBlock);
  return true;
}

/// Whoever completes the second of two neighbours adds them, and goes on with what that completes.
void GradientTree::merge_upwards(std::unique_lock<std::mutex>& lock, Index first, Index span) {
  for (;;) {
    spans_[static_cast<std::size_t>(first - range_.first)] = span;
    const Range both = pair_of(first, span, shards_);
    if (span >= shards_ || !lies_within(both, range_)) return;
    const Index second = both.first + span;
    if (second < both.last) {
      const Index neighbour = first == second ? both.first : second;
      if (spans_[static_cast<std::size_t>(neighbour - range_.first)] != span) return;
      lock.unlock();
      add(both.first, both.last);
      lock.lock();
    }
    first = both.first;
    span *= 2;
  }
}

/// Adds the sets of a subtree into its first, on this thread, and gives their memory back.
void GradientTree::add(Index first, Index last) {
  std::vector<Real*> sets(static_cast<std::size_t>(shards_), nullptr);
  for (Index shard = first; shard < last; ++shard)
    if (set_of(shard).count() > 0) sets[static_cast<std::size_t>(shard)] = set_of(shard).data();
  for (Index begin = 0; begin < numbers_; begin += kCached)
    add_within({first, last}, sets, begin, std::min(begin + kCached, numbers_));
  for (Index shard = first + 1; shard < last; ++shard) set_of(shard) = Gradients();
}

GradientSum GradientTree::sum() {
  Ranks& ranks = workers_.ranks;
  std::vector<Real*> sets(static_cast<std::size_t>(shards_), nullptr);
  for (Index shard = range_.first; shard < range_.last; ++shard)
    if (set_of(shard).count() > 0) sets[static_cast<std::size_t>(shard)] = set_of(shard).data();
  Gradients total = sets_.empty() ? Gradients::uninitialised({numbers_}) : std::move(sets_.front());
  // The norm is taken while the sum is in the cache, if that is all of it.
  double squares = sum_over_chunks(numbers_, workers_.threads, [&](Index begin, Index end) {
    add_within(range_, sets, begin, end);
    return ranks.alone() ? sum_of_squares({total.data() + begin, total.data() + end}) : 0;
  });
  if (ranks.alone()) return {std::move(total), std::sqrt(squares)};

  std::vector<Real*> sums(sets.size(), nullptr);
  for (const Index first : subtrees_within(range_, shards_))
    sums[static_cast<std::size_t>(first)] = sets[static_cast<std::size_t>(first)];
  for (Index begin = 0; begin < numbers_; begin += kSegment) {
    std::vector<Real*> there = sums;
    for (Real*& set : there)
      if (set != nullptr) set += begin;
    Segment(std::move(there), std::min(kSegment, numbers_ - begin), workers_).sum_into(total.data() + begin);
  }
  squares = sum_over_chunks(numbers_, workers_.threads, [&](Index begin, Index end) {
    return sum_of_squares({total.data() + begin, total.data() + end});
  });
  return {std::move(total), std::sqrt(squares)};
}

std::vector<Index> sets_held(Range range, Index shards) {
  std::vector<Index> held;
  Index left = 0;
  for (Index shard = range.first; shard < range.last; ++shard) {
    held.push_back(++left);
    Range done = block_of(shard, shards);
    if (shard + 1 < done.last || !lies_within(done, range) || range.count() <= kBlock) continue;
    left -= done.count() - 1;
    for (Index span = kBlock; span < shards; span *= 2) {
      const Range both = pair_of(done.first, span, shards);
      if (both.last > shard + 1 || !lies_within(both, range)) break;
      if (both.first + span < both.last) --left;
      done = both;
    }
  }
  held.push_back(left);
  return held;
}

}  // namespace tapehead
