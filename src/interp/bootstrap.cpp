#include "tapehead/interp/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <span>

#include "tapehead/base/random.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr int kResamples = 2000;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

double mean(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total / static_cast<double>(values.size());
}

/// Which of `count` values stand in each resample, one resample after the other.
std::vector<std::uint32_t> draw(std::size_t count, std::uint64_t seed) {
  Generator generator(seed, Purpose::bootstrap);
  std::vector<std::uint32_t> draws(count * kResamples);
  for (std::uint32_t& index : draws)
    index = static_cast<std::uint32_t>(generator.below(static_cast<Index>(count)));
  return draws;
}

}  // namespace

Estimate Bootstrap::operator()(const std::vector<double>& values) {
  std::vector<double> there;
  std::copy_if(values.begin(), values.end(), std::back_inserter(there),
               [](double v) { return !std::isnan(v); });
  if (there.empty()) return {kMissing, kMissing, kMissing};
  std::vector<std::uint32_t>& draws = draws_[there.size()];
  if (draws.empty()) draws = draw(there.size(), seed_);
  std::vector<double> means;
  for (std::size_t first = 0; first < draws.size(); first += there.size()) {
    double total = 0;
    for (const std::uint32_t index : std::span(draws).subspan(first, there.size())) total += there[index];
    means.push_back(total / static_cast<double>(there.size()));
  }
  std::sort(means.begin(), means.end());
  const auto quantile = [&](double share) {
    return means[static_cast<std::size_t>(std::lround(share * static_cast<double>(kResamples - 1)))];
  };
  return {mean(there), quantile(0.025), quantile(0.975)};
}

Estimate bootstrap(const std::vector<double>& values, std::uint64_t seed) { return Bootstrap(seed)(values); }

std::vector<double> differences(const std::vector<double>& with, const std::vector<double>& without) {
  require(with.size() == without.size(), "[bootstrap] expected pairs of values, got {} and {}", with.size(),
          without.size());
  std::vector<double> result(with.size());
  std::transform(with.begin(), with.end(), without.begin(), result.begin(), std::minus<>());
  return result;
}

}  // namespace tapehead
