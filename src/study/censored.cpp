#include "tapehead/study/censored.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tapehead/base/require.h"

namespace tapehead {

Quantile quantile(std::span<const Censored> runs, double p) {
  require(!runs.empty(), "[formation] expected at least one run to take a quantile of");
  require(p >= 0 && p <= 1, "[formation] expected a quantile between 0 and 1, got {}", p);
  std::vector<double> known;
  std::optional<Index> first_end;
  for (const Censored& run : runs) {
    if (run.value)
      known.push_back(*run.value);
    else
      first_end = std::min(first_end.value_or(run.last_step), run.last_step);
  }
  std::sort(known.begin(), known.end());
  const double place = static_cast<double>(runs.size() - 1) * p;
  const double fraction = place - std::floor(place);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = fraction > 0 ? below + 1 : below;
  if (above >= known.size()) return {.not_by = first_end.value_or(0)};
  return {.value = known[below] + fraction * (known[above] - known[below])};
}

CensoredQuartiles quartiles(std::span<const Censored> runs) {
  const auto known =
      std::count_if(runs.begin(), runs.end(), [](const Censored& run) { return run.value.has_value(); });
  return {.lower = quantile(runs, 0.25),
          .median = quantile(runs, 0.5),
          .upper = quantile(runs, 0.75),
          .known = static_cast<Index>(known),
          .runs = static_cast<Index>(runs.size())};
}

}  // namespace tapehead
