/// The two number types everything is written in.
#pragma once

#include <cstdint>

namespace tapehead {

/// Float in the library that trains; double in the second build that gradients are checked in.
#ifdef TAPEHEAD_DOUBLE
using Real = double;
#else
using Real = float;
#endif

/// Sizes, positions and counts. Signed, so that differences are safe.
using Index = std::int64_t;

}  // namespace tapehead
