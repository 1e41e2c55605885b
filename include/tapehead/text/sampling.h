/// How the next token is chosen from a model's logits.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/base/random.h"

namespace tapehead {

struct SamplingConfig {
  double temperature = 1;           ///< logits are divided by it; 0: always the likeliest token
  std::optional<Index> top_k = {};  ///< only the k likeliest tokens, at least 1
  double top_p = 1;  ///< only the fewest likeliest tokens that together have this chance; above 0, at most 1
};

/// Throws UsageError for values out of range.
void validate(const SamplingConfig& config);

/// The chance of every token: softmax(logits / temperature), of which top_k and then top_p leave the
/// likeliest (Fan et al. 2018; Holtzman et al. 2020), scaled to sum to 1. Of equal logits the lower id counts
/// as likelier. Throws Error without logits and for one that is not finite.
std::vector<double> token_chances(std::span<const Real> logits, const SamplingConfig& config);

/// A token drawn with these chances, which sum to 1.
Index draw_token(std::span<const double> chances, Generator& generator);

}  // namespace tapehead
