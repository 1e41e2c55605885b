#include "tapehead/tasks/knowledge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr std::uint8_t kCurrent = 1;
constexpr std::uint8_t kPrevious = 2;
/// Chances that differ by less are equal: what rounding leaves.
constexpr double kEqual = 1e-9;

std::uint8_t names_of(std::int32_t token, std::int32_t current, std::int32_t previous) {
  if (token == current) return kCurrent;
  return previous >= 0 && token == previous ? kPrevious : 0;
}

}  // namespace

Possible Knowledge::known(std::int32_t token) const { return {token, names_of(token, current_, previous_)}; }

Knowledge::Knowledge(View view, std::span<const std::int32_t> tokens) : current_(tokens.back()) {
  known_.reserve(tokens.size());
  if (view == View::everything) {
    for (const std::int32_t token : tokens) known_.push_back({token, 0});
    return;
  }
  const std::size_t last = tokens.size() - 1;
  const bool two = view == View::last_two && last > 0;
  if (two && tokens[last - 1] != current_) previous_ = tokens[last - 1];
  for (std::size_t i = 0; i <= last; ++i) {
    const bool after_equal = i > 0 && tokens[i - 1] == current_;
    // Before a place of the current token it is told whether the one before that is the same too.
    const bool before_equal = two && i < last && tokens[i + 1] == current_;
    if (tokens[i] == current_ || after_equal || (before_equal && tokens[i] == previous_))
      known_.push_back(known(tokens[i]));
    else
      known_.push_back({-1, before_equal && previous_ >= 0 ? std::uint8_t{kCurrent | kPrevious} : kCurrent});
  }
}

NextToken::NextToken(std::span<const Outcome> outcomes, const Knowledge& knowledge, Index vocabulary)
    : current_(knowledge.current()), previous_(knowledge.previous()), vocabulary_(vocabulary) {
  double top = -std::numeric_limits<double>::infinity();
  for (const Outcome& outcome : outcomes) top = std::max(top, outcome.log_weight);
  ensure(std::isfinite(top), "no case of what comes next has a weight");
  double total = 0;
  for (const auto& [log_weight, next] : outcomes) {
    const double weight = std::exp(log_weight - top);
    total += weight;
    if (!next.known()) {
      any_but_[next.named] += weight / static_cast<double>(next.count(vocabulary));
      continue;
    }
    const auto listed = std::ranges::find(known_, next.token, &std::pair<std::int32_t, double>::first);
    if (listed == known_.end())
      known_.emplace_back(next.token, weight);
    else
      listed->second += weight;
  }
  for (double& weight : any_but_) weight /= total;
  for (auto& entry : known_) entry.second /= total;
}

double NextToken::of_unlisted(std::uint8_t named) const {
  double chance = 0;
  for (std::uint8_t but = 0; but < 4; ++but)
    if ((but & named) == 0) chance += any_but_[but];
  return chance;
}

double NextToken::chance(std::int32_t token) const {
  const double chance = of_unlisted(names_of(token, current_, previous_));
  const auto listed = std::ranges::find(known_, token, &std::pair<std::int32_t, double>::first);
  // Rounding may leave a trifle above 1.
  return std::min(1.0, chance + (listed == known_.end() ? 0 : listed->second));
}

double NextToken::hit(std::int32_t token) const {
  // All tokens that differ from the rest: the two that are named, and those with more.
  std::vector<std::int32_t> apart{current_};
  if (previous_ >= 0) apart.push_back(previous_);
  for (const auto& entry : known_)
    if (names_of(entry.first, current_, previous_) == 0) apart.push_back(entry.first);
  std::vector<double> chances;
  for (const std::int32_t one : apart) chances.push_back(chance(one));
  const Index rest = vocabulary_ - static_cast<Index>(apart.size());
  const double of_rest = rest > 0 ? of_unlisted(0) : 0;
  const double least = (1 - kEqual) * std::max(of_rest, *std::ranges::max_element(chances));
  if (chance(token) < least) return 0;
  Index equals = of_rest >= least ? rest : 0;
  for (const double chance : chances) equals += chance >= least ? 1 : 0;
  return 1 / static_cast<double>(equals);
}

}  // namespace tapehead
