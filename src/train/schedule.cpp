#include "tapehead/train/schedule.h"

#include <cmath>
#include <numbers>

namespace tapehead {

double scheduled_rate(const TrainConfig& config, Index step) {
  if (step < config.warmup)
    return config.learning_rate * static_cast<double>(step + 1) / static_cast<double>(config.warmup);
  if (config.schedule == "constant") return config.learning_rate;
  const double done = static_cast<double>(step - config.warmup) /
                      static_cast<double>(std::max<Index>(1, config.steps - config.warmup));
  return config.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, done)));
}

}  // namespace tapehead
