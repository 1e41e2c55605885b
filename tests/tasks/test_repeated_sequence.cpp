#include "tapehead/tasks/repeated_sequence.h"

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "support/testing.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// The period of one sequence: its first induction position.
Index period_of(const Batch& batch, Index b) {
  Index t = 0;
  while (t < batch.length() && batch.kinds(b, t) == Kind::noise) ++t;
  return t;
}

std::vector<std::int32_t> sequence(const Batch& batch, Index b) {
  const auto row = batch.inputs.values().subspan(static_cast<std::size_t>(b * batch.length()),
                                                 static_cast<std::size_t>(batch.length()));
  return {row.begin(), row.end()};
}

Batch drawn(const Task& task, Index count, std::uint64_t seed, Purpose purpose = Purpose::data,
            Index step = 0) {
  Generator generator(seed, purpose, step);
  return task.sample(generator, count);
}

bool same(const Batch& a, const Batch& b) {
  return a.inputs == b.inputs && a.targets == b.targets && a.kinds == b.kinds &&
         a.earlier_copy == b.earlier_copy;
}

const RepeatedSequence kTask({.vocabulary = 64, .length = 48, .period_min = 6, .period_max = 24});

}  // namespace

TEST_CASE("a sequence repeats with its period, and its target goes on with the repetition") {
  const Batch batch = drawn(kTask, 200, 1);
  for (Index b = 0; b < batch.size(); ++b) {
    const Index period = period_of(batch, b);
    for (Index t = 0; t < 48; ++t) {
      if (t >= period) CHECK(batch.inputs(b, t) == batch.inputs(b, t - period));
      if (t + 1 >= period) CHECK(batch.targets(b, t) == batch.inputs(b, t + 1 - period));
    }
  }
}

TEST_CASE("positions from the period on are induction, and those before, the boundary too, are noise") {
  const Batch batch = drawn(FixedPeriodSequence({.vocabulary = 64, .length = 7, .period = 4}), 3, 1);
  for (Index b = 0; b < 3; ++b)
    for (Index t = 0; t < 7; ++t) {
      CHECK(batch.kinds(b, t) == (t >= 4 ? Kind::induction : Kind::noise));
      CHECK(batch.earlier_copy(b, t) == (t >= 4 ? t - 4 : -1));
    }
}

TEST_CASE("the loss on a repeat of 4 counts three predictions, not that of its first token") {
  const Batch batch = drawn(FixedPeriodSequence({.vocabulary = 64, .length = 7, .period = 4}), 1, 1);
  const double losses[] = {3.0, 3.1, 2.9, 3.2, 0.1, 0.2, 0.3};
  double total = 0;
  int count = 0;
  for (Index t = 0; t < 7; ++t)
    if (batch.kinds(0, t) == Kind::induction) {
      total += losses[t];
      ++count;
    }
  CHECK(count == 3);
  CHECK(total / count == doctest::Approx(0.2));
}

TEST_CASE("the induction stripe is one after the earlier copy, read in the repeat alone") {
  const Batch batch = drawn(FixedPeriodSequence({.vocabulary = 64, .length = 6, .period = 3}), 1, 1);
  std::map<std::pair<Index, Index>, double> weights{
      {{3, 1}, 0.9}, {{4, 2}, 0.8}, {{5, 3}, 0.7}, {{2, 0}, 0.1},  {{3, 0}, 0.05}, {{4, 1}, 0.1},
      {{5, 2}, 0.1}, {{1, 0}, 0.6}, {{2, 1}, 0.5}, {{3, 2}, 0.03}, {{4, 3}, 0.05}, {{5, 4}, 0.1}};
  double total = 0;
  int queries = 0;
  for (Index q = 0; q < 6; ++q) {
    if (batch.kinds(0, q) != Kind::induction) continue;
    ++queries;
    total += weights[{q, batch.earlier_copy(0, q) + 1}];
  }
  CHECK(queries == 3);
  CHECK(total / queries == doctest::Approx(0.8));
}

TEST_CASE("following the earlier copies visits every one by period, and no accidental equal") {
  const Batch batch =
      drawn(RepeatedSequence({.vocabulary = 2, .length = 30, .period_min = 3, .period_max = 9}), 50, 1);
  for (Index b = 0; b < 50; ++b) {
    const Index period = period_of(batch, b);
    for (Index t = 0; t < 30; ++t) {
      Index copies = 0;
      for (Index at = batch.earlier_copy(b, t); at >= 0; at = batch.earlier_copy(b, at)) {
        ++copies;
        CHECK(at == t - copies * period);
      }
      CHECK(copies == t / period);
    }
  }
}

TEST_CASE("periods are drawn anew for every sequence, evenly over the whole range") {
  std::map<Index, int> counts;
  const Batch batch = drawn(kTask, 19'000, 2);
  for (Index b = 0; b < batch.size(); ++b) ++counts[period_of(batch, b)];
  CHECK(counts.size() == 19);
  CHECK(counts.begin()->first == 6);
  CHECK(counts.rbegin()->first == 24);
  for (const auto& entry : counts) CHECK(std::abs(entry.second - 1000) < 130);  // four standard errors
}

TEST_CASE("tokens are drawn evenly over the whole vocabulary") {
  std::vector<int> counts(8);
  const Batch batch = drawn(FixedPeriodSequence({.vocabulary = 8, .length = 11, .period = 10}), 1000, 3);
  for (Index b = 0; b < 1000; ++b)
    for (Index t = 0; t < 10; ++t) ++counts[static_cast<std::size_t>(batch.inputs(b, t))];
  for (const int count : counts) CHECK(std::abs(count - 1250) < 133);  // four standard errors
}

TEST_CASE("the same key gives the same batch, and a generator moves on to fresh ones") {
  CHECK(same(drawn(kTask, 8, 42), drawn(kTask, 8, 42)));
  CHECK(!same(drawn(kTask, 8, 42), drawn(kTask, 8, 43)));
  CHECK(!same(drawn(kTask, 8, 42, Purpose::data, 0), drawn(kTask, 8, 42, Purpose::data, 1)));
  Generator generator(42);
  const Batch first = kTask.sample(generator, 8);
  CHECK(same(first, drawn(kTask, 8, 42)));
  CHECK(!same(first, kTask.sample(generator, 8)));
}

TEST_CASE("training and evaluation share no sequence, even with one seed") {
  std::set<std::vector<std::int32_t>> training;
  for (Index step = 0; step < 4; ++step) {
    const Batch batch = drawn(kTask, 32, 42, Purpose::data, step);
    for (Index b = 0; b < 32; ++b) training.insert(sequence(batch, b));
  }
  CHECK(training.size() == 4 * 32);
  for (Index step = 0; step < 4; ++step) {
    const Batch batch = drawn(kTask, 32, 42, Purpose::evaluation, step);
    for (Index b = 0; b < 32; ++b) CHECK(!training.contains(sequence(batch, b)));
  }
}

TEST_CASE("a model that only repeats its input pays for every target that differs from it") {
  const Batch batch =
      drawn(RepeatedSequence({.vocabulary = 1000, .length = 12, .period_min = 3, .period_max = 6}), 1, 5);
  Tensor logits(Shape{1, 12, 1000});
  int different = 0;
  for (Index t = 0; t < 12; ++t) {
    logits(0, t, batch.inputs(0, t)) = 50;
    if (batch.inputs(0, t) != batch.targets(0, t)) ++different;
  }
  CHECK(different == 12);
  CHECK(cross_entropy(Variable(logits), batch.targets).item() == doctest::Approx(50));
}

TEST_CASE("no sequences are an empty batch, and fewer are refused") {
  CHECK(drawn(kTask, 0, 1).size() == 0);
  CHECK_THROWS_WITH_AS(drawn(kTask, -1, 1), "[task] expected at least 0 sequences, got -1", Error);
}

TEST_CASE("a resampled sequence has the same period and positions that repeat, and other tokens") {
  const FixedPeriodSequence fixed({.vocabulary = 64, .length = 48, .period = 12});
  for (const Task* task : {static_cast<const Task*>(&kTask), static_cast<const Task*>(&fixed)}) {
    const Batch batch = drawn(*task, 50, 1);
    Generator generator(2, Purpose::evaluation);
    const Batch fresh = task->resample(batch, generator);
    CHECK(fresh.kinds == batch.kinds);
    CHECK(fresh.earlier_copy == batch.earlier_copy);
    for (Index b = 0; b < 50; ++b) {
      CHECK(sequence(fresh, b) != sequence(batch, b));
      for (Index t = period_of(batch, b); t < 48; ++t)
        CHECK(fresh.inputs(b, t) == fresh.inputs(b, t - period_of(batch, b)));
    }
  }
}

TEST_CASE("a task that repeats says at which distances") {
  CHECK(kTask.periods()->shortest == 6);
  CHECK(kTask.periods()->longest == 24);
  CHECK(kTask.periods()->contains(6));
  CHECK(kTask.periods()->contains(24));
  CHECK_FALSE(kTask.periods()->contains(25));
  CHECK_FALSE(FixedPeriodSequence({.period = 12}).periods()->contains(11));
}

TEST_CASE("sizes with which nothing would repeat, or nothing could be drawn, are refused") {
  using Config = RepeatedSequence::Config;
  CHECK_NOTHROW(RepeatedSequence(Config{.vocabulary = 2, .length = 3, .period_min = 1, .period_max = 2}));
  CHECK_THROWS_WITH_AS(RepeatedSequence(Config{.length = 24, .period_max = 24}),
                       "[task] expected a period below the length, got 24 and 24: nothing would repeat",
                       UsageError);
  CHECK_THROWS_WITH_AS(RepeatedSequence(Config{.period_min = 9, .period_max = 8}),
                       "[task] expected periods 1 <= period_min <= period_max, got 9 and 8", UsageError);
  CHECK_THROWS_AS(RepeatedSequence(Config{.period_min = 0, .period_max = 8}), UsageError);
  CHECK_THROWS_WITH_AS(RepeatedSequence(Config{.vocabulary = 1}),
                       "[task] expected a vocabulary of 2 to 2147483647, got 1", UsageError);
  CHECK_THROWS_AS(FixedPeriodSequence({.length = 12, .period = 12}), UsageError);
  CHECK_THROWS_AS(FixedPeriodSequence({.period = 0}), UsageError);
}

TEST_CASE("one period for all is offered under its own name only, and warns") {
  CHECK_THROWS_WITH_AS(RepeatedSequence({.period_min = 12, .period_max = 12}),
                       "[task] one period (12) for all sequences can be solved by position alone; if that is "
                       "wanted, use the task fixed_period_sequence",
                       UsageError);
  const FixedPeriodSequence fixed({.vocabulary = 64, .length = 48, .period = 12});
  const Batch batch = drawn(fixed, 100, 1);
  for (Index b = 0; b < 100; ++b) CHECK(period_of(batch, b) == 12);
  CHECK(fixed.warning().find("without induction heads") != std::string::npos);
  CHECK(kTask.warning().empty());
}

}  // namespace tapehead
