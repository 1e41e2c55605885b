/// What --json prints.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tapehead::app {

/// The document and a line's end. Bytes that are no UTF-8, as a path may hold, become U+FFFD.
std::string json_text(const nlohmann::ordered_json& document);

}  // namespace tapehead::app
