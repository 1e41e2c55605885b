#include "tapehead/tasks/repeated_sequence.h"

#include <cmath>
#include <limits>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

void require_usage(bool condition, const std::string& message) {
  if (!condition) throw UsageError("[task] " + message);
}

void check_sizes(Index vocabulary, Index length, Index shortest, Index longest) {
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  require_usage(vocabulary >= 2 && vocabulary <= most,
                fmt::format("expected a vocabulary of 2 to {}, got {}", most, vocabulary));
  require_usage(
      shortest >= 1 && shortest <= longest,
      fmt::format("expected periods 1 <= period_min <= period_max, got {} and {}", shortest, longest));
  require_usage(longest < length,
                fmt::format("expected a period below the length, got {} and {}: nothing would repeat",
                            longest, length));
}

/// Fills row b: x_t is random for t < P and x_{t-P} from there on; the target of t is x_{t+1}.
void fill_row(Batch& batch, Index b, Index period, Index vocabulary, Generator& generator) {
  std::vector<std::int32_t> segment(static_cast<std::size_t>(period));
  for (std::int32_t& token : segment) token = static_cast<std::int32_t>(generator.below(vocabulary));
  for (Index t = 0; t < batch.length(); ++t) {
    batch.inputs(b, t) = segment[static_cast<std::size_t>(t % period)];
    batch.targets(b, t) = segment[static_cast<std::size_t>((t + 1) % period)];
    if (t < period) continue;
    batch.kinds(b, t) = Kind::induction;
    batch.earlier_copy(b, t) = static_cast<std::int32_t>(t - period);
  }
}

/// The period of a sequence that fill_row made: how far the last position lies from its copy.
Index period_of(const Batch& batch, Index b) {
  const Index last = batch.length() - 1;
  return last - batch.earlier_copy(b, last);
}

/// What comes next if the period is P, weighed by how likely what is known is under it against tokens that
/// are all independent: 1/V of every token that has to be the same as another of its class t mod P.
std::optional<Outcome> outcome_at(Index period, const Knowledge& knowledge, Index vocabulary) {
  const Index read = knowledge.size();
  const auto log_count = [&](const Possible& possible) {
    return std::log(static_cast<double>(possible.count(vocabulary)));
  };
  double log_weight = 0;
  std::vector<Possible> segment;
  for (Index t = 0; t < read; ++t) {
    if (t < period) {
      segment.push_back(knowledge[t]);
      continue;
    }
    Possible& one = segment[static_cast<std::size_t>(t % period)];
    if (!one.meets(knowledge[t])) return std::nullopt;
    const Possible both = one.also(knowledge[t]);
    log_weight += log_count(both) + log_count({}) - log_count(one) - log_count(knowledge[t]);
    one = both;
  }
  return Outcome{log_weight, read < period ? Possible{} : segment[static_cast<std::size_t>(read % period)]};
}

/// For periods that are all equally likely.
std::vector<Outcome> outcomes_over(Index shortest, Index longest, const Knowledge& knowledge,
                                   Index vocabulary) {
  std::vector<Outcome> outcomes;
  for (Index period = shortest; period <= longest; ++period)
    if (const auto outcome = outcome_at(period, knowledge, vocabulary)) outcomes.push_back(*outcome);
  return outcomes;
}

}  // namespace

RepeatedSequence::RepeatedSequence(const Config& config) : config_(config) {
  check_sizes(config.vocabulary, config.length, config.period_min, config.period_max);
  require_usage(
      config.period_min < config.period_max,
      fmt::format("one period ({}) for all sequences can be solved by position alone; if that is wanted, "
                  "use the task fixed_period_sequence",
                  config.period_min));
}

Batch RepeatedSequence::sample(Generator& generator, Index count) const {
  Batch batch = noise_batch(count, config_.length);
  for (Index b = 0; b < count; ++b) {
    const Index period = config_.period_min + generator.below(config_.period_max - config_.period_min + 1);
    fill_row(batch, b, period, config_.vocabulary, generator);
  }
  return batch;
}

Batch RepeatedSequence::resample(const Batch& batch, Generator& generator) const {
  Batch fresh = noise_batch(batch.size(), batch.length());
  for (Index b = 0; b < batch.size(); ++b)
    fill_row(fresh, b, period_of(batch, b), config_.vocabulary, generator);
  return fresh;
}

std::vector<Outcome> RepeatedSequence::outcomes(const Knowledge& knowledge) const {
  return outcomes_over(config_.period_min, config_.period_max, knowledge, config_.vocabulary);
}

FixedPeriodSequence::FixedPeriodSequence(const Config& config) : config_(config) {
  check_sizes(config.vocabulary, config.length, config.period, config.period);
}

Batch FixedPeriodSequence::sample(Generator& generator, Index count) const {
  Batch batch = noise_batch(count, config_.length);
  for (Index b = 0; b < count; ++b) fill_row(batch, b, config_.period, config_.vocabulary, generator);
  return batch;
}

std::vector<Outcome> FixedPeriodSequence::outcomes(const Knowledge& knowledge) const {
  return outcomes_over(config_.period, config_.period, knowledge, config_.vocabulary);
}

std::string FixedPeriodSequence::warning() const {
  return fmt::format(
      "every sequence has period {}: one layer solves this by position, without induction heads; test the "
      "model at "
      "other periods before you believe its accuracy",
      config_.period);
}

}  // namespace tapehead
