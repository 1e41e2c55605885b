/// A run that is trained, with its heads scored. The study floor stands in the float library alone.
#pragma once

#include "support/folder.h"
#include "support/training.h"
#include "tapehead/train/run_directory.h"

namespace tapehead::testing {

/// A new run in `folder`, trained to its last step.
RunDirectory finished_run(const Folder& folder, const Config& config = tiny_config());

}  // namespace tapehead::testing
