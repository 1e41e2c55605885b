#include "tapehead/interp/probe.h"

#include <algorithm>

#include "tapehead/interp/period_scores.h"

namespace tapehead {

namespace {

constexpr std::size_t kMostUntrained = 4;
constexpr Index kShortest = 2;

/// How far a period lies outside the trained ones.
Index distance(const Periods& trained, Index period) {
  return std::max(trained.shortest - period, period - trained.longest);
}

/// Whether looking a trained distance back finds a copy in sequences of this period, or the other way round.
bool is_related(const Periods& trained, Index period) {
  for (Index p = std::max<Index>(trained.shortest, kShortest); p <= trained.longest; ++p)
    if (p % period == 0 || period % p == 0) return true;
  return false;
}

/// The nearest of these to the trained ones, in growing order.
std::vector<Index> nearest(std::vector<Index> periods, const Periods& trained) {
  std::ranges::stable_sort(periods, {}, [&](Index period) { return distance(trained, period); });
  periods.resize(std::min(periods.size(), kMostUntrained));
  std::ranges::sort(periods);
  return periods;
}

}  // namespace

ProbePeriods probe_periods(const Task& task, Index length) {
  const Index longest = length * 3 / 4;
  ProbePeriods periods;
  const std::optional<Periods> trained = task.periods();
  if (!trained) {
    for (const Index period : {5, 8, 13, 21})
      if (period <= longest) periods.untrained.push_back(period);
    return periods;
  }
  for (const Index period : {trained->shortest, (trained->shortest + trained->longest) / 2, trained->longest})
    if (period < length && (periods.trained.empty() || periods.trained.back() < period))
      periods.trained.push_back(period);
  std::vector<Index> outside;
  for (Index period = kShortest; period <= longest; ++period)
    if (!trained->contains(period)) outside.push_back(period);
  std::vector<Index> unrelated;
  std::ranges::copy_if(outside, std::back_inserter(unrelated),
                       [&](Index period) { return !is_related(*trained, period); });
  periods.untrained = nearest(unrelated.empty() ? outside : unrelated, *trained);
  return periods;
}

Batch probe_batch(Index vocabulary, Index length, Index period, const ProbeOptions& options) {
  const PeriodOptions sequences{
      .periods = {period}, .length = length, .sequences = options.sequences, .seed = options.seed};
  return period_batch(sequences, vocabulary, period);
}

Probe probe(const Transformer& model, Index length, Index period, const ProbeOptions& options) {
  const Batch batch = probe_batch(model.config().vocabulary, length, period, options);
  HeadScorer scorer(model.config(), batch);
  const Evaluation evaluation = evaluate(model, batch, {scorer}, options.evaluate);
  return {period, evaluation, scorer.scores(), chance_scores(batch, model.config().vocabulary)};
}

}  // namespace tapehead
