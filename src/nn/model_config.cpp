#include "tapehead/nn/model_config.h"

namespace tapehead {

double count_parameters(const ModelConfig& config) {
  const auto width = static_cast<double>(config.width);
  const auto hidden = static_cast<double>(config.feed_forward);
  const double with_bias = config.bias ? 1 : 0;
  const double norm = config.layer_norm ? width * (1 + with_bias) : 0;
  const double attention = 4 * width * width + (config.qkv_bias ? 3 * width : 0) + with_bias * width;
  const double feed_forward =
      config.feed_forward == 0 ? 0 : 2 * width * hidden + with_bias * (hidden + width) + norm;
  const double table = static_cast<double>(config.vocabulary) * width;
  const double positions =
      config.positions == Positions::learned ? static_cast<double>(config.context) * width : 0;
  return static_cast<double>(config.layers) * (norm + attention + feed_forward) + positions + norm +
         (config.tied ? table : 2 * table);
}

}  // namespace tapehead
