/// Estimates as they are printed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tapehead/interp/bootstrap.h"

namespace tapehead::app {

/// "+1.250 [+1.200, +1.300]", or "-" where there is none (NaN).
std::string with_interval(const Estimate& estimate);
/// {"mean": 1.25, "low": 1.2, "high": 1.3}
nlohmann::ordered_json json_of(const Estimate& estimate);

}  // namespace tapehead::app
