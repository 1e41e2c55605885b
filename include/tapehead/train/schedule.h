/// The learning rate of every step.
#pragma once

#include "tapehead/train/config.h"

namespace tapehead {

/// The rate of update `step` (0, 1, ...): it rises in equal parts over the first `warmup` updates. After that
/// it stays ("constant"), or falls along half a cosine to 0 at the end of the run ("cosine"; Loshchilov and
/// Hutter 2017, section 3).
double scheduled_rate(const TrainConfig& config, Index step);

}  // namespace tapehead
