/// After which steps of a run a checkpoint is saved.
#pragma once

#include "tapehead/train/config.h"

namespace tapehead {

/// Whether the config saves one after this step: the first and the last, the multiples of
/// checkpoint_interval, those nearest to 2^(k / checkpoints_per_doubling) for k = 0, 1, ..., and
/// checkpoint_steps.
bool is_checkpoint_step(const TrainConfig& config, Index step);

}  // namespace tapehead
