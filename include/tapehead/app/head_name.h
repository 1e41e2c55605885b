/// How a head is named on the command line.
#pragma once

#include <string>

#include "tapehead/nn/site.h"

namespace tapehead::app {

/// The output of head H of layer L, from "L.H". Throws UsageError for other text and for a head that the
/// model does not have.
Site parse_head(const std::string& text, const ModelConfig& config);

}  // namespace tapehead::app
