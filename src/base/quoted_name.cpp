#include "tapehead/base/quoted_name.h"

#include <nlohmann/json.hpp>

namespace tapehead {

std::string quoted_name(std::string_view text) {
  using Json = nlohmann::json;
  constexpr std::size_t shown = 120;
  const std::string start(text.substr(0, shown));
  return Json(start).dump(-1, ' ', true, Json::error_handler_t::replace) + (text.size() > shown ? "..." : "");
}

}  // namespace tapehead
