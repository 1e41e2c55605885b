/// Whether the numbers in a run's folder are those that its config, seeds and checkpoints give.
///
/// The training is done again, beside the run and not in it, and everything else is computed again from the
/// checkpoint that it names. On the machine and with the version that made them, numbers come out the same to
/// the last digit; elsewhere the order of additions may differ, and a tolerance is needed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tapehead/study/table_difference.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// What became of one table, or of the checkpoints.
struct Verified {
  std::string what;  ///< "metrics.csv", "checkpoints"
  Index cells = 0;   ///< that were compared
  std::vector<Difference> differences = {};
  std::string left_out = {};  ///< what could not be compared, and why; empty where all was
  std::string failure = {};   ///< why it cannot be recomputed at all
};

struct VerifyOptions {
  int threads = 1;
  /// How far a number may be from the one recomputed, as a share of it; at 0 the texts have to be equal.
  double tolerance = 0;
  /// Called after every step that is trained again.
  std::function<void(Index step, double loss)> stepped = {};
  /// Asked after every such step: whether to give up.
  std::function<bool()> should_stop = {};
};

/// Every table of kRunTables that is there, and the checkpoints. A table that cannot be made again as it says
/// it was made is a failure. Throws UsageError if another program writes into the run, and Error where
/// the training cannot be done again, and if it was asked to give up.
std::vector<Verified> verify(const RunDirectory& run, const VerifyOptions& options = {});

}  // namespace tapehead
