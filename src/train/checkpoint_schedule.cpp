#include "tapehead/train/checkpoint_schedule.h"

#include <algorithm>
#include <cmath>

namespace tapehead {

namespace {

/// Whether 2^(k / per_doubling), rounded, is the step for some whole k.
bool is_on_logarithmic_scale(Index step, Index per_doubling) {
  if (step < 1 || per_doubling < 1) return false;
  const auto count = static_cast<double>(per_doubling);
  const double nearest = std::round(count * std::log2(static_cast<double>(step)));
  return std::llround(std::exp2(nearest / count)) == step;
}

}  // namespace

bool is_checkpoint_step(const TrainConfig& config, Index step) {
  return step == 0 || step == config.steps ||
         (config.checkpoint_interval > 0 && step % config.checkpoint_interval == 0) ||
         is_on_logarithmic_scale(step, config.checkpoints_per_doubling) ||
         std::ranges::find(config.checkpoint_steps, step) != config.checkpoint_steps.end();
}

}  // namespace tapehead
