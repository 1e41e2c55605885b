#include "tapehead/app/estimate_text.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tapehead/app/table.h"

namespace tapehead::app {

std::string with_interval(const Estimate& estimate) {
  if (std::isnan(estimate.mean)) return "-";
  return fmt::format("{} [{}, {}]", signed_decimals(estimate.mean, 3), signed_decimals(estimate.low, 3),
                     signed_decimals(estimate.high, 3));
}

nlohmann::ordered_json json_of(const Estimate& estimate) {
  return {{"mean", estimate.mean}, {"low", estimate.low}, {"high", estimate.high}};
}

}  // namespace tapehead::app
