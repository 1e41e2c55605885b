/// A sweep whose runs several ranks share out: each trains one at a time, and takes the next from rank 0.
#pragma once

#include <span>
#include <vector>

#include "tapehead/base/ranks.h"
#include "tapehead/study/sweep.h"

namespace tapehead {

/// Throws UsageError, with the same words on every rank, for ranks that are not the same program or have
/// other settings.
void require_same_sweep(const std::vector<Setting>& settings, Ranks& ranks);

/// As run_sweep, on every rank with the same settings, each rank on one thread; rank 0 trains too, and hands
/// out runs between its own steps. Its observer hears of all runs, those of other ranks once a second and
/// when they end; of the other ranks' only `should_stop` is asked, and they return no results. They have
/// been seen to be the same by require_same_sweep. A run that another rank has finished and rank 0 does not
/// see has failed: all ranks have to share a file system.
std::vector<SweepResult> run_joint_sweep(const std::vector<Setting>& settings, Ranks& ranks,
                                         const SweepObserver& observer = {});

}  // namespace tapehead
