/// A whole run: steps, evaluations, checkpoints, and the files that tell of them.
#pragma once

#include <functional>

#include "tapehead/train/evaluate.h"
#include "tapehead/train/run_directory.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

/// Who follows a run. Every member may be left empty.
struct RunObserver {
  /// After every update.
  std::function<void(const Trainer&, const Trainer::StepReport&)> stepped;
  /// Watches every evaluation's passes.
  Watch watch;
  /// After every evaluation, on the batch it was made on; step 0 comes before any update.
  std::function<void(const Trainer&, const Batch&, const Evaluation&)> evaluated;
  /// Asked after every update: whether to save and return early.
  std::function<bool()> should_stop;
};

/// Trains to the config's last step, writing metrics.csv and checkpoints as the config says. Returns false if
/// it was asked to stop before; the step it had reached is then saved. A trainer that starts past step 0
/// continues the tables, from which later rows are dropped first.
bool train_run(Trainer& trainer, const RunDirectory& run, const RunObserver& observer);

}  // namespace tapehead
