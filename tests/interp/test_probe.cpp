#include "tapehead/interp/probe.h"

#include "support/models.h"
#include "tapehead/base/require.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Indices = std::vector<Index>;

ProbePeriods periods_of(Index shortest, Index longest, Index length) {
  return probe_periods(RepeatedSequence({.length = length, .period_min = shortest, .period_max = longest}),
                       length);
}

}  // namespace

TEST_CASE(
    "a model is probed at the ends and the middle of its periods, and at the nearest unrelated ones "
    "outside") {
  CHECK(periods_of(6, 24, 48).trained == Indices{6, 15, 24});
  CHECK(periods_of(6, 24, 48).untrained == Indices{25, 29, 31});
  const ProbePeriods fixed = probe_periods(FixedPeriodSequence({.length = 48, .period = 12}), 48);
  CHECK(fixed.trained == Indices{12});
  CHECK(fixed.untrained == Indices{10, 11, 13, 14});
}

TEST_CASE(
    "looking a trained distance back finds no copy at an untrained period, where there are such periods") {
  for (const Index period : {5, 8, 12, 16}) {
    const ProbePeriods periods = probe_periods(FixedPeriodSequence({.length = 64, .period = period}), 64);
    CHECK_FALSE(periods.untrained.empty());
    for (const Index untrained : periods.untrained) {
      CHECK(untrained % period != 0);
      CHECK(period % untrained != 0);
    }
  }
}

TEST_CASE("where every period is related to a trained one, those outside are probed all the same") {
  const ProbePeriods periods = periods_of(5, 11, 13);
  CHECK(periods.untrained == Indices{2, 3, 4});
}

TEST_CASE("every period leaves something to copy, also in short sequences") {
  for (Index length = 3; length < 40; ++length)
    for (Index shortest = 1; shortest + 1 < length; shortest += 3) {
      const ProbePeriods periods = periods_of(shortest, shortest + 1, length);
      for (const auto* list : {&periods.trained, &periods.untrained})
        for (const Index period : *list) {
          CHECK(period >= 1);
          CHECK(period < length);
        }
    }
}

TEST_CASE("a probe repeats with its period, and draws each period from a stream of its own") {
  const Batch four = probe_batch(9, 12, 4, {.sequences = 5, .seed = 3});
  CHECK(four.size() == 5);
  CHECK(four.length() == 12);
  for (Index b = 0; b < 5; ++b)
    for (Index t = 4; t < 12; ++t) CHECK(four.inputs(b, t) == four.inputs(b, t - 4));
  CHECK(probe_batch(9, 12, 4, {.sequences = 5, .seed = 3}).inputs == four.inputs);
  CHECK_FALSE(probe_batch(9, 12, 4, {.sequences = 5, .seed = 4}).inputs == four.inputs);
  const Batch five = probe_batch(9, 12, 5, {.sequences = 5, .seed = 3});
  bool differs = false;
  for (Index t = 0; t < 4; ++t) differs = differs || five.inputs(0, t) != four.inputs(0, t);
  CHECK(differs);
  CHECK_THROWS_AS(probe_batch(9, 12, 12, {}), UsageError);
}

TEST_CASE("a probe holds what an evaluation and the scores of its sequences say") {
  const Transformer model = random_model(attention_only());
  const ProbeOptions options{.sequences = 6, .seed = 2};
  const Probe made = probe(model, 10, 3, options);
  const Batch batch = probe_batch(7, 10, 3, options);
  CHECK(made.period == 3);
  CHECK(made.evaluation.loss() == evaluate(model, batch).loss());
  const std::vector<HeadScores> heads = score_heads(model, batch);
  REQUIRE(made.heads.size() == heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i)
    CHECK(made.heads[i][Score::induction] == heads[i][Score::induction]);
  CHECK(made.chance == chance_scores(batch, 7));
}
