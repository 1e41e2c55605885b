/// When something happened over several runs, some of which ended before it did.
///
/// A run that ended before is censored: known to be later than its last step, and nothing more. It is never
/// left out. It ranks above every run in which the thing happened, as if it never would.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "tapehead/base/number.h"

namespace tapehead {

/// One run's value, if it has one by its last step.
struct Censored {
  std::optional<double> value = {};
  Index last_step = 0;
};

/// Between the ranked values: at place (n - 1) p of 0, ..., n - 1, on the straight line between the two
/// neighbours. Without a value where one of them that counts is censored: it is then "not by step `not_by`",
/// the first last step of a censored run.
struct Quantile {
  std::optional<double> value = {};
  Index not_by = 0;
};

/// Throws Error for no runs, and for a p outside 0 to 1.
Quantile quantile(std::span<const Censored> runs, double p);

struct CensoredQuartiles {
  Quantile lower;
  Quantile median;
  Quantile upper;
  Index known = 0;  ///< runs with a value
  Index runs = 0;   ///< all of them
};

/// Throws Error for no runs.
CensoredQuartiles quartiles(std::span<const Censored> runs);

}  // namespace tapehead
