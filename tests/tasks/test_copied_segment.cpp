#include "tapehead/tasks/copied_segment.h"

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "support/testing.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

const CopiedSegment kTask({.vocabulary = 64, .length = 127, .segment = 24});

Batch drawn(const Task& task, Index count, std::uint64_t seed) {
  Generator generator(seed);
  return task.sample(generator, count);
}

/// Where the segment and its copy begin: the first induction position and what it repeats.
std::pair<Index, Index> places_of(const Batch& batch, Index b) {
  Index second = 0;
  while (second < batch.length() && batch.kinds(b, second) == Kind::noise) ++second;
  REQUIRE(second < batch.length());
  return {batch.earlier_copy(b, second), second};
}

/// All T + 1 tokens of a sequence.
std::vector<std::int32_t> tokens_of(const Batch& batch, Index b) {
  std::vector<std::int32_t> tokens;
  for (Index t = 0; t < batch.length(); ++t) tokens.push_back(batch.inputs(b, t));
  tokens.push_back(batch.targets(b, batch.length() - 1));
  return tokens;
}

}  // namespace

TEST_CASE("a segment of 24 tokens stands a second time further on, without overlap, once a sequence") {
  const Batch batch = drawn(kTask, 300, 1);
  for (Index b = 0; b < batch.size(); ++b) {
    const auto [first, second] = places_of(batch, b);
    CHECK(first + 24 <= second);
    CHECK(second + 24 <= 128);
    const std::vector<std::int32_t> tokens = tokens_of(batch, b);
    for (Index j = 0; j < 24; ++j)
      CHECK(tokens[static_cast<std::size_t>(first + j)] == tokens[static_cast<std::size_t>(second + j)]);
  }
}

TEST_CASE("induction positions have their token and their target in the copy, so neither end counts") {
  const Batch batch = drawn(kTask, 300, 2);
  for (Index b = 0; b < batch.size(); ++b) {
    const auto [first, second] = places_of(batch, b);
    for (Index t = 0; t < batch.length(); ++t) {
      const bool inside = t >= second && t <= second + 22;
      CHECK(batch.kinds(b, t) == (inside ? Kind::induction : Kind::noise));
      CHECK(batch.earlier_copy(b, t) == (inside ? t - (second - first) : -1));
    }
  }
}

TEST_CASE("segments begin evenly in the earlier half of their room, and copies evenly in what is left") {
  std::map<Index, int> firsts;
  std::map<Index, int> seconds_of_40;
  const Batch batch = drawn(kTask, 41'000, 3);
  for (Index b = 0; b < batch.size(); ++b) {
    const auto [first, second] = places_of(batch, b);
    ++firsts[first];
    if (first == 40) ++seconds_of_40[second];
  }
  CHECK(firsts.size() == 41);
  CHECK(firsts.begin()->first == 0);
  CHECK(firsts.rbegin()->first == 40);
  for (const auto& entry : firsts) CHECK(std::abs(entry.second - 1000) < 130);  // four standard errors
  CHECK(seconds_of_40.size() == 41);
  CHECK(seconds_of_40.begin()->first == 64);
  CHECK(seconds_of_40.rbegin()->first == 104);
}

TEST_CASE("tokens outside the copy are drawn evenly") {
  std::vector<int> counts(8);
  const Batch batch = drawn(CopiedSegment({.vocabulary = 8, .length = 9, .segment = 3}), 1000, 4);
  for (Index b = 0; b < 1000; ++b) {
    const auto [first, second] = places_of(batch, b);
    const std::vector<std::int32_t> tokens = tokens_of(batch, b);
    for (Index t = 0; t < 10; ++t)
      if (t < second || t >= second + 3)
        ++counts[static_cast<std::size_t>(tokens[static_cast<std::size_t>(t)])];
  }
  for (const int count : counts) CHECK(std::abs(count - 875) < 111);  // four standard errors
}

TEST_CASE("a resampled sequence has its segment and copy at the same places, and other tokens") {
  const Batch batch = drawn(kTask, 50, 1);
  Generator generator(2, Purpose::evaluation);
  const Batch fresh = kTask.resample(batch, generator);
  CHECK(fresh.kinds == batch.kinds);
  CHECK(fresh.earlier_copy == batch.earlier_copy);
  for (Index b = 0; b < 50; ++b) {
    CHECK(tokens_of(fresh, b) != tokens_of(batch, b));
    for (Index t = 0; t < 127; ++t)
      if (fresh.kinds(b, t) == Kind::induction)
        CHECK(fresh.targets(b, t) == fresh.inputs(b, fresh.earlier_copy(b, t) + 1));
  }
}

TEST_CASE("the distances of a copied segment go from its length to all the room there is, and all come up") {
  const CopiedSegment task({.vocabulary = 4, .length = 8, .segment = 3});
  CHECK(task.periods()->shortest == 3);
  CHECK(task.periods()->longest == 6);
  std::set<Index> distances;
  const Batch batch = drawn(task, 500, 1);
  for (Index b = 0; b < 500; ++b) {
    const auto [first, second] = places_of(batch, b);
    distances.insert(second - first);
  }
  CHECK(distances == std::set<Index>{3, 4, 5, 6});
}

TEST_CASE("segments that leave nothing to tell, or no choice of places, are refused") {
  CHECK_NOTHROW(CopiedSegment({.vocabulary = 2, .length = 4, .segment = 2}));
  CHECK_THROWS_WITH_AS(
      CopiedSegment({.segment = 1}),
      "[task] expected a segment of at least 2 tokens, got 1: nothing could be told from what came before",
      UsageError);
  CHECK_THROWS_WITH_AS(CopiedSegment({.length = 47, .segment = 24}),
                       "[task] expected a segment of at most half the length, got 24 and 47: there would be "
                       "no places to choose from for its copy",
                       UsageError);
  CHECK_THROWS_WITH_AS(CopiedSegment({.vocabulary = 1}),
                       "[task] expected a vocabulary of 2 to 2147483647, got 1", UsageError);
}

}  // namespace tapehead
