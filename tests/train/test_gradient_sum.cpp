#include "tapehead/train/gradient_sum.h"

#include <algorithm>
#include <cmath>

#include "support/functions.h"
#include "support/ranks.h"
#include "support/testing.h"
#include "tapehead/base/parallel.h"
#include "tapehead/base/random.h"
#include "tapehead/tensor/memory.h"
#include "tapehead/train/optimizer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// Numbers of very different sizes, so that every other order of addition rounds otherwise somewhere.
std::vector<Gradients> drawn_sets(Index shards, Index numbers) {
  std::vector<Gradients> sets;
  for (Index shard = 0; shard < shards; ++shard) {
    Generator generator(7, Purpose::data, shard);
    sets.push_back(Gradients::uninitialised({numbers}));
    for (Real& number : sets.back().values())
      number = static_cast<Real>(generator.normal() * std::exp(3 * generator.normal()));
  }
  return sets;
}

/// Halves of a batch one after the other: the tree, in the words of its definition.
Gradients tree_sum(const std::vector<Gradients>& sets, Index first, Index span) {
  if (span == 1) return sets[static_cast<std::size_t>(first)];
  Gradients sum = tree_sum(sets, first, span / 2);
  if (first + span / 2 >= static_cast<Index>(sets.size())) return sum;
  const Gradients right = tree_sum(sets, first + span / 2, span / 2);
  for (Index i = 0; i < sum.count(); ++i) sum.data()[i] += right.data()[i];
  return sum;
}

Gradients tree_sum(const std::vector<Gradients>& sets) {
  Index span = 1;
  while (span < static_cast<Index>(sets.size())) span *= 2;
  return tree_sum(sets, 0, span);
}

/// The sum of these sets, put in their order or backwards, on one rank of a job.
GradientSum sum_of(const std::vector<Gradients>& sets, const Workers& workers, bool backwards = false) {
  const Index shards = static_cast<Index>(sets.size());
  GradientTree tree(shards, sets.front().count(), workers);
  const Range own = share_of(shards, workers.ranks.rank(), workers.ranks.count());
  for (Index i = 0; i < own.count(); ++i) {
    const Index shard = backwards ? own.last - 1 - i : own.first + i;
    tree.put(shard, sets[static_cast<std::size_t>(shard)]);
  }
  return tree.sum();
}

}  // namespace

TEST_CASE("every shard belongs to one rank, and no rank owns two more than another") {
  for (Index shards = 1; shards <= 9; ++shards)
    for (int ranks = 1; ranks <= 12; ++ranks) {
      Index next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Range range = share_of(shards, rank, ranks);
        CHECK(range.first == next);
        CHECK(range.count() >= shards / ranks);
        CHECK(range.count() <= (shards + ranks - 1) / ranks);
        next = range.last;
      }
      CHECK(next == shards);
    }
}

TEST_CASE("the subtrees of a range are the largest that lie within it") {
  CHECK(subtrees_within({0, 8}, 8) == std::vector<Index>{0});
  CHECK(subtrees_within({4, 8}, 8) == std::vector<Index>{4});
  CHECK(subtrees_within({0, 3}, 8) == std::vector<Index>{0, 2});
  CHECK(subtrees_within({3, 6}, 8) == std::vector<Index>{3, 4});
  CHECK(subtrees_within({1, 4}, 4) == std::vector<Index>{1, 2});
  CHECK(subtrees_within({4, 6}, 6) == std::vector<Index>{4});
  CHECK(subtrees_within({0, 5}, 5) == std::vector<Index>{0});
  CHECK(subtrees_within({2, 2}, 4).empty());
}

TEST_CASE("one process adds gradient sets in the tree of its definition, on any number of threads") {
  for (Index shards = 1; shards <= 9; ++shards) {
    const std::vector<Gradients> sets = drawn_sets(shards, 20000);
    const Gradients expected = tree_sum(sets);
    for (const int threads : {1, 3}) {
      const GradientSum sum = sum_of(sets, threads);
      CHECK(same_bits(sum.gradients, expected));
      CHECK(sum.norm == doctest::Approx(std::sqrt(sum_of_squares(expected.values()))).epsilon(1e-12));
    }
  }
}

TEST_CASE("sets come to the same bits in whatever order they are put, and from several threads at once") {
  for (const Index shards : {Index{7}, Index{12}, Index{16}, Index{23}, Index{64}}) {
    CAPTURE(shards);
    const std::vector<Gradients> sets = drawn_sets(shards, 257);
    const Gradients expected = tree_sum(sets);
    CHECK(same_bits(sum_of(sets, 1).gradients, expected));
    CHECK(same_bits(sum_of(sets, 1, true).gradients, expected));
    for (int time = 0; time < 5; ++time) {
      GradientTree tree(shards, 257, 4);
      parallel_for(shards, 4, [&](Index shard) { tree.put(shard, sets[static_cast<std::size_t>(shard)]); });
      CHECK(same_bits(tree.sum().gradients, expected));
    }
  }
}

TEST_CASE("few sets are held at once, however many shards there are") {
  CHECK(sets_held({0, 1}, 1) == std::vector<Index>{1, 1});
  CHECK(sets_held({0, 4}, 4) == std::vector<Index>{1, 2, 3, 4, 4});
  CHECK(sets_held({0, 8}, 8) == std::vector<Index>{1, 2, 3, 4, 2, 3, 4, 5, 1});
  CHECK(sets_held({0, 9}, 9) == std::vector<Index>{1, 2, 3, 4, 2, 3, 4, 5, 2, 1});
  CHECK(std::ranges::max(sets_held({0, 128}, 128)) == 9);
  // In a part of a batch some neighbours are another rank's.
  CHECK(sets_held({3, 9}, 12) == std::vector<Index>{1, 2, 3, 4, 5, 3, 3});
  CHECK(sets_held({2, 2}, 4) == std::vector<Index>{0});
  constexpr Index kNumbers = 1 << 16;
  for (const Index shards : {Index{4}, Index{8}, Index{21}, Index{32}}) {
    CAPTURE(shards);
    const Gradients zeros({kNumbers});
    reset_peak_memory();
    const Index before = memory_use().peak;
    {
      GradientTree tree(shards, kNumbers, 1);
      for (Index shard = 0; shard < shards; ++shard) tree.put(shard, zeros);
      tree.sum();
    }
    const Index held = (memory_use().peak - before) / (kNumbers * static_cast<Index>(sizeof(Real)));
    CHECK(held == std::ranges::max(sets_held({0, shards}, shards)));
  }
}

TEST_CASE("any number of ranks come to the bits of one process, each of them, with the same norm") {
  for (Index shards = 1; shards <= 9; ++shards)
    for (int count = 2; count <= 6; ++count) {
      CAPTURE(shards);
      CAPTURE(count);
      const std::vector<Gradients> sets = drawn_sets(shards, 1003);
      const GradientSum expected = sum_of(sets, 1);
      check_on_ranks(count, [&](Ranks& ranks) {
        const GradientSum sum = sum_of(sets, {1, ranks}, shards % 2 == 0);
        CHECK(same_bits(sum.gradients, expected.gradients));
        CHECK(sum.norm == expected.norm);
      });
    }
}

TEST_CASE("fewer numbers than ranks, and more than are exchanged at once, are summed all the same") {
  for (const Index numbers : {Index{1}, Index{3}, (Index{1} << 22) + 5}) {
    const std::vector<Gradients> sets = drawn_sets(3, numbers);
    const GradientSum expected = sum_of(sets, 1);
    check_on_ranks(4, [&](Ranks& ranks) {
      CHECK(same_bits(sum_of(sets, {1, ranks}).gradients, expected.gradients));
    });
  }
}

TEST_CASE("where shards and ranks are powers of two, a rank sends 2 (R - 1) / R numbers a parameter") {
  const Index numbers = 4096;
  for (const int count : {2, 4, 8}) {
    const std::vector<Gradients> sets = drawn_sets(8, numbers);
    check_on_ranks(count, [&](Ranks& ranks) {
      ranks.forget_traffic();
      sum_of(sets, {1, ranks});
      CHECK(ranks.traffic().size() == 2);
      for (const Ranks::Traffic& call : ranks.traffic())
        CHECK(call.bytes == numbers * (count - 1) / count * static_cast<Index>(sizeof(Real)));
    });
  }
}
