/// Means over sequences, and how sure one can be of them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace tapehead {

/// A mean over sequences, with its 95 % bootstrap interval.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;
};

/// The mean of `values` and the percentile interval of the means of 2,000 resamples of them (Efron and
/// Tibshirani 1993, chapter 13), drawn from `seed`. NaN entries are left out; without any other, all is NaN.
Estimate bootstrap(const std::vector<double>& values, std::uint64_t seed);

/// The same for many lists of one seed: to the same bits, but the resamples are drawn only once.
class Bootstrap {
 public:
  explicit Bootstrap(std::uint64_t seed) : seed_(seed) {}
  Estimate operator()(const std::vector<double>& values);

 private:
  std::uint64_t seed_;
  std::map<std::size_t, std::vector<std::uint32_t>> draws_;  // by the number of values
};

/// `with` less `without`, entry by entry.
std::vector<double> differences(const std::vector<double>& with, const std::vector<double>& without);

}  // namespace tapehead
