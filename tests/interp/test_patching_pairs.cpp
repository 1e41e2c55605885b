#include "tapehead/interp/patching_pairs.h"

#include <set>

#include "support/testing.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

RepeatedSequence task_over(Index vocabulary) {
  return RepeatedSequence({.vocabulary = vocabulary, .length = 12, .period_min = 3, .period_max = 8});
}

Batch batch_of(const Task& task, Index count = 20) {
  Generator generator(3, Purpose::evaluation);
  return task.sample(generator, count);
}

Index period_of(const Batch& batch, Index b) { return 11 - batch.earlier_copy(b, 11); }

/// A task whose sequences do not repeat by construction.
class Shapeless : public Task {
 public:
  explicit Shapeless(Index length) : length_(length) {}
  Batch sample(Generator&, Index count) const override { return noise_batch(count, length_); }
  Index vocabulary() const override { return 9; }
  Index length() const override { return length_; }

 private:
  Index length_;
};

}  // namespace

TEST_CASE("pairs share one structure, and differ where the query's token stood before and nowhere else") {
  const RepeatedSequence task = task_over(40);
  const Batch batch = batch_of(task);
  for (Index sequence = 0; sequence < batch.size(); ++sequence) {
    const Index period = period_of(batch, sequence);
    CAPTURE(period);
    const PatchingPairs pairs = patching_pairs(task, batch, sequence, 10, 7);
    CHECK(pairs.query == 11);
    CHECK(pairs.period() == period);
    CHECK(pairs.sequence == sequence);
    std::set<Index> copies;
    for (Index at = 11 - period; at >= 0; at -= period) copies.insert(at);
    CHECK(std::set<Index>(pairs.copies.begin(), pairs.copies.end()) == copies);
    CHECK(pairs.copies.size() == copies.size());
    std::set<std::vector<std::int32_t>> different;
    for (Index b = 0; b < 10; ++b) {
      different.insert({pairs.clean.inputs(b, 0), pairs.clean.inputs(b, 1), pairs.clean.inputs(b, 2)});
      CHECK(pairs.clean.earlier_copy(b, 11) == 11 - period);
      const std::int32_t token = pairs.corrupted(b, pairs.copies.front());
      for (Index t = 0; t < 12; ++t) {
        CHECK((pairs.corrupted(b, t) != pairs.clean.inputs(b, t)) == copies.contains(t));
        CHECK(pairs.clean.inputs(b, t) != token);  // no accidental match
        if (copies.contains(t)) CHECK(pairs.corrupted(b, t) == token);
      }
    }
    CHECK(different.size() == 10);
    const Batch corrupted = pairs.corrupted_batch();
    CHECK(corrupted.inputs == pairs.corrupted);
    CHECK(corrupted.targets == pairs.clean.targets);
  }
}

TEST_CASE("positions of a pair are named by the part they play") {
  PatchingPairs pairs;
  pairs.query = 11;
  pairs.copies = {7, 3};
  CHECK(pairs.role_of(11) == "query");
  for (const Index copy : {3, 7}) {
    CHECK(pairs.role_of(copy) == "copy");
    CHECK(pairs.role_of(copy + 1) == "after the copy");
  }
  for (const Index other : {0, 2, 5, 9, 10, 12, -1}) CHECK(pairs.role_of(other).empty());
}

TEST_CASE("the sequence with the fewest copies is patched, the first of equals") {
  const RepeatedSequence task = task_over(40);
  const Batch batch = batch_of(task);
  const Index chosen = sequence_to_patch(batch);
  // One copy: a period of 6 or more among 12 positions.
  CHECK(period_of(batch, chosen) >= 6);
  for (Index b = 0; b < chosen; ++b) CHECK(period_of(batch, b) < 6);
  CHECK(patching_pairs(task, batch, {}, 4, 7).sequence == chosen);
}

TEST_CASE("a small vocabulary has no free token, and the copies get any but the query's") {
  const RepeatedSequence task = task_over(2);
  const Batch batch = batch_of(task);
  const PatchingPairs pairs = patching_pairs(task, batch, {}, 50, 7);
  for (Index b = 0; b < 50; ++b)
    CHECK(pairs.corrupted(b, pairs.copies.front()) == 1 - pairs.clean.inputs(b, pairs.query));
}

TEST_CASE("pairs are a function of the seed") {
  const RepeatedSequence task = task_over(40);
  const Batch batch = batch_of(task);
  const PatchingPairs pairs = patching_pairs(task, batch, {}, 6, 7);
  CHECK(patching_pairs(task, batch, {}, 6, 7).corrupted == pairs.corrupted);
  CHECK_FALSE(patching_pairs(task, batch, {}, 6, 8).corrupted == pairs.corrupted);
}

TEST_CASE("a task whose sequences do not repeat gives way to random ones that repeat once") {
  for (const Index length : {3, 10, 11, 200}) {
    const Shapeless task(length);
    const PatchingPairs pairs =
        patching_pairs(task, task.sample(*std::make_unique<Generator>(1), 2), {}, 5, 7);
    const Index shown = std::min(length, kLongestPairs);
    CHECK(pairs.clean.length() == shown);
    CHECK_FALSE(pairs.sequence.has_value());
    CHECK(pairs.query == shown - 1);
    CHECK(pairs.copies.size() == 1);
    CHECK(pairs.period() == (shown + 1) / 2);
    for (Index b = 0; b < 5; ++b) {
      CHECK(pairs.clean.inputs(b, pairs.query) == pairs.clean.inputs(b, pairs.copies.front()));
      CHECK(pairs.clean.targets(b, pairs.query) == pairs.clean.inputs(b, pairs.copies.front() + 1));
    }
  }
  const Shapeless task(10);
  const Batch batch = noise_batch(2, 10);
  CHECK(complaint_of([&] { patching_pairs(task, batch, 0, 5, 7); }).find("none to choose") !=
        std::string::npos);
  const Shapeless tiny(2);
  CHECK(complaint_of([&] { patching_pairs(tiny, batch, {}, 5, 7); }).find("too few") != std::string::npos);
}

TEST_CASE("sequences that are not there, or cannot be corrupted, are refused") {
  const RepeatedSequence task = task_over(40);
  const Batch batch = batch_of(task);
  const auto complaint = [&](const Task& of, const Batch& from, std::optional<Index> sequence, Index count) {
    return complaint_of([&] { patching_pairs(of, from, sequence, count, 7); });
  };
  CHECK(complaint(task, batch, 20, 4).find("from 0 to 19, got 20") != std::string::npos);
  CHECK(complaint(task, batch, -1, 4).find("from 0 to 19, got -1") != std::string::npos);
  CHECK(complaint(task, batch, 0, 1).find("at least 2 sequences") != std::string::npos);
  // One token again and again: the copy is itself what follows a copy.
  const FixedPeriodSequence single({.vocabulary = 40, .length = 12, .period = 1});
  const Batch same = batch_of(single);
  CHECK(complaint(single, same, {}, 4).find("none of the sequences repeats") != std::string::npos);
  CHECK(complaint(single, same, 3, 4).find("sequence 3 does not repeat") != std::string::npos);
  CHECK(complaint(task, noise_batch(2, 12), {}, 4).find("none of the sequences") != std::string::npos);
}
