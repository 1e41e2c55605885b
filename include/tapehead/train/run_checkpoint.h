/// The checkpoints of a run, each known to be the run's own.
#pragma once

#include "tapehead/train/checkpoint.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// The run's checkpoint of that step. Throws UsageError if it was made with another config than the run's
/// config.toml tells by now, and Error for one of another step, and as load_checkpoint does.
Checkpoint run_checkpoint(const RunDirectory& run, Index step);

/// The newest. Throws Error, too, if there is none yet.
Checkpoint latest_run_checkpoint(const RunDirectory& run);

}  // namespace tapehead
