#include "tapehead/app/head_name.h"

#include <charconv>

#include "tapehead/base/require.h"

namespace tapehead::app {

Site parse_head(const std::string& text, const ModelConfig& config) {
  if (config.layers == 0) throw UsageError("--head: this model has no layers, so no heads");
  Site site = head_output(0, 0);
  const char* const end = text.data() + text.size();
  const auto [dot, layer_error] = std::from_chars(text.data(), end, site.layer);
  const bool has_dot = layer_error == std::errc() && dot != end && *dot == '.';
  const auto [last, head_error] = std::from_chars(has_dot ? dot + 1 : end, end, site.head);
  if (!has_dot || head_error != std::errc() || last != end || site.layer < 0 || site.layer >= config.layers ||
      site.head < 0 || site.head >= config.heads)
    throw UsageError(
        fmt::format("--head: expected LAYER.HEAD with a layer from 0 to {} and a head from 0 to {}, as in "
                    "0.1, got '{}'",
                    config.layers - 1, config.heads - 1, text));
  return site;
}

}  // namespace tapehead::app
