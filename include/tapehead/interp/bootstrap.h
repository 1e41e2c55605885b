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

/// The seed of the resamples behind every interval that is printed.
inline constexpr std::uint64_t kBootstrapSeed = 1;

/// The mean of the values that are not NaN; NaN without any.
double known_mean(const std::vector<double>& values);

/// The mean of `values` and the percentile interval of the means of 2,000 resamples of them (Efron and
/// Tibshirani 1993, chapter 13), drawn from `seed`. NaN entries are left out; without any other, all is NaN.
Estimate bootstrap(const std::vector<double>& values, std::uint64_t seed = kBootstrapSeed);

/// The same for many lists of one seed: to the same bits, but the resamples are drawn only once.
class Bootstrap {
 public:
  explicit Bootstrap(std::uint64_t seed = kBootstrapSeed) : seed_(seed) {}
  Estimate operator()(const std::vector<double>& values);
  /// The ratio of the means of two lists without NaN, resampled in pairs. Throws Error for lists of different
  /// lengths, and for none.
  Estimate ratio(const std::vector<double>& above, const std::vector<double>& below);

 private:
  /// What f(indices) gives for each resample of `count` values, in growing order: its ends.
  template <class F>
  Estimate interval_of(double value, std::size_t count, const F& f);

  std::uint64_t seed_;
  std::map<std::size_t, std::vector<std::uint32_t>> draws_;  // by the number of values
};

/// `with` less `without`, entry by entry.
std::vector<double> differences(const std::vector<double>& with, const std::vector<double>& without);

}  // namespace tapehead
