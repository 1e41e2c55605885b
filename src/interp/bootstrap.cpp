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

/// Which of `count` values stand in each resample, one resample after the other.
std::vector<std::uint32_t> draw(std::size_t count, std::uint64_t seed) {
  Generator generator(seed, Purpose::bootstrap);
  std::vector<std::uint32_t> draws(count * kResamples);
  for (std::uint32_t& index : draws)
    index = static_cast<std::uint32_t>(generator.below(static_cast<Index>(count)));
  return draws;
}

}  // namespace

double known_mean(const std::vector<double>& values) {
  double total = 0;
  std::size_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    total += value;
    ++count;
  }
  return count == 0 ? kMissing : total / static_cast<double>(count);
}

template <class F>
Estimate Bootstrap::interval_of(double value, std::size_t count, const F& f) {
  std::vector<std::uint32_t>& draws = draws_[count];
  if (draws.empty()) draws = draw(count, seed_);
  std::vector<double> resampled;
  for (std::size_t first = 0; first < draws.size(); first += count)
    resampled.push_back(f(std::span(draws).subspan(first, count)));
  std::sort(resampled.begin(), resampled.end());
  const auto quantile = [&](double share) {
    return resampled[static_cast<std::size_t>(std::lround(share * static_cast<double>(kResamples - 1)))];
  };
  return {value, quantile(0.025), quantile(0.975)};
}

Estimate Bootstrap::operator()(const std::vector<double>& values) {
  std::vector<double> there;
  std::copy_if(values.begin(), values.end(), std::back_inserter(there),
               [](double v) { return !std::isnan(v); });
  if (there.empty()) return {kMissing, kMissing, kMissing};
  return interval_of(known_mean(there), there.size(), [&](std::span<const std::uint32_t> indices) {
    double total = 0;
    for (const std::uint32_t index : indices) total += there[index];
    return total / static_cast<double>(there.size());
  });
}

Estimate Bootstrap::ratio(const std::vector<double>& above, const std::vector<double>& below) {
  require(above.size() == below.size() && !above.empty(),
          "[bootstrap] expected pairs of values, got {} and {}", above.size(), below.size());
  return interval_of(known_mean(above) / known_mean(below), above.size(),
                     [&](std::span<const std::uint32_t> indices) {
                       double top = 0;
                       double bottom = 0;
                       for (const std::uint32_t index : indices) {
                         top += above[index];
                         bottom += below[index];
                       }
                       return top / bottom;
                     });
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
