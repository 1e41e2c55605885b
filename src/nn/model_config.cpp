#include "tapehead/nn/model_config.h"

namespace tapehead {

namespace {

/// What queries and keys pass through beside their projections.
double count_score_parameters(const ModelConfig& config) {
  const auto width = static_cast<double>(config.width);
  const auto heads = static_cast<double>(config.heads);
  double count = 0;
  if (config.smeared_keys) count += heads;
  if (config.query_key_norm) count += 2 * width / heads;
  if (config.scores == ScoreForm::bilinear) count += width * width / heads;
  if (config.scores == ScoreForm::additive) count += width;
  return count;
}

}  // namespace

bool adds_positions(const ModelConfig& config) {
  return config.positions == Positions::learned || config.positions == Positions::sinusoidal;
}

bool has_bilinear_scores(const ModelConfig& config) {
  return config.scores != ScoreForm::additive && !config.query_key_norm;
}

double count_parameters(const ModelConfig& config) {
  const auto width = static_cast<double>(config.width);
  const auto hidden = static_cast<double>(config.feed_forward);
  const double with_bias = config.bias ? 1 : 0;
  const double norm = config.norm == NormKind::none  ? 0
                      : config.norm == NormKind::rms ? width
                                                     : width * (1 + with_bias);
  const double attention = 4 * width * width + (config.qkv_bias ? 3 * width : 0) + with_bias * width +
                           count_score_parameters(config);
  const double inputs = config.activation == Activation::swiglu ? 2 : 1;
  const double feed_forward =
      config.feed_forward == 0 ? 0
                               : (inputs + 1) * width * hidden + with_bias * (inputs * hidden + width) + norm;
  const double table = static_cast<double>(config.vocabulary) * width;
  const double positions =
      config.positions == Positions::learned ? static_cast<double>(config.context) * width : 0;
  return static_cast<double>(config.layers) * (norm + attention + feed_forward) + positions + norm +
         (config.tied ? table : 2 * table);
}

double count_fixed_positions(const ModelConfig& config) {
  const auto context = static_cast<double>(config.context);
  switch (config.positions) {
    case Positions::sinusoidal:
      return context * static_cast<double>(config.width);
    case Positions::rotary:  // every layer has its own
      return static_cast<double>(config.layers) * context * static_cast<double>(config.width / config.heads);
    case Positions::learned:
    case Positions::alibi:
    case Positions::none:
      return 0;
  }
  return 0;
}

}  // namespace tapehead
