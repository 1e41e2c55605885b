/// The two number types everything is written in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace tapehead {

/// Float in the library that trains; double in the second build that gradients are checked in.
#ifdef TAPEHEAD_DOUBLE
using Real = double;
#else
using Real = float;
#endif

/// Sizes, positions and counts. Signed, so that differences are safe.
using Index = std::int64_t;

inline bool all_finite(std::span<const Real> numbers) {
  return std::ranges::all_of(numbers, [](Real number) { return std::isfinite(number); });
}

}  // namespace tapehead
