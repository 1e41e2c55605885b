#include "tapehead/text/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tapehead/base/require.h"

namespace tapehead {

void validate(const SamplingConfig& config) {
  if (!(config.temperature >= 0) || !std::isfinite(config.temperature))
    throw UsageError(
        fmt::format("[sampling] expected a temperature of at least 0, got {}", config.temperature));
  if (config.top_k && *config.top_k < 1)
    throw UsageError(fmt::format("[sampling] expected a top-k of at least 1, got {}", *config.top_k));
  if (!(config.top_p > 0 && config.top_p <= 1))
    throw UsageError(fmt::format("[sampling] expected a top-p above 0 and at most 1, got {}", config.top_p));
}

std::vector<double> token_chances(std::span<const Real> logits, const SamplingConfig& config) {
  validate(config);
  require(!logits.empty(), "[sampling] there are no logits to choose by");
  require(all_finite(logits), "[sampling] a logit is not finite");
  std::vector<std::size_t> likeliest(logits.size());
  std::iota(likeliest.begin(), likeliest.end(), std::size_t{0});
  std::ranges::stable_sort(likeliest, [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });

  std::vector<double> chances(logits.size(), 0);
  if (config.temperature == 0) {
    chances[likeliest.front()] = 1;
    return chances;
  }
  if (config.top_k) likeliest.resize(std::min(likeliest.size(), static_cast<std::size_t>(*config.top_k)));
  const double highest = static_cast<double>(logits[likeliest.front()]);
  double total = 0;
  for (const std::size_t id : likeliest)
    total += chances[id] = std::exp((static_cast<double>(logits[id]) - highest) / config.temperature);

  double kept = 0;
  for (const std::size_t id : likeliest) {
    const bool enough = kept >= config.top_p * total;
    if (enough) chances[id] = 0;
    kept += chances[id];
  }
  for (double& chance : chances) chance /= kept;
  return chances;
}

Index draw_token(std::span<const double> chances, Generator& generator) {
  double left = generator.uniform();
  Index last = 0;
  for (std::size_t id = 0; id < chances.size(); ++id) {
    if (chances[id] == 0) continue;
    last = static_cast<Index>(id);
    left -= chances[id];
    if (left < 0) break;
  }
  return last;
}

}  // namespace tapehead
