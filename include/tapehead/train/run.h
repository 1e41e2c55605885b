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
  std::function<void(const Trainer&, const Trainer::StepReport&)> stepped = {};
  /// Watches every evaluation's passes. These are changed by the config's interventions that act on the next
  /// update, so the tables tell of the model as it trains.
  Watch watch = {};
  /// After every evaluation, on the batch it was made on; step 0 comes before any update.
  std::function<void(const Trainer&, const Batch&, const Evaluation&)> evaluated = {};
  /// The config's ring_score at the evaluation just made, asked after `evaluated`; not needed for the
  /// accuracy.
  std::function<double()> ring_score = {};
  /// Asked after every update: whether to save and return early.
  std::function<bool()> should_stop = {};
};

/// The trainer that goes on where the run's newest checkpoint stands; the generators are functions of seed
/// and step, so it goes on to the bit. A run without a checkpoint begins again. Throws UsageError if
/// config.toml is no longer what the checkpoint was made with, and Error, saying from where one could go on
/// instead, if the checkpoint cannot be read.
Trainer resume_run(const RunDirectory& run, const Workers& workers);

/// Trains to the config's last step, writing metrics.csv and checkpoints as the config says, and before them
/// floors.csv, which stays as it is where it is there already. Returns false if
/// it was asked to stop before; the step it had reached is then saved. A trainer that starts past step 0
/// continues the tables, from which later rows are dropped first. Throws UsageError for a ring_score that
/// nobody gives, and Error if the tables lack rows, if the disk refuses, and for numbers that are not finite,
/// which are never saved; the run then stands at its last checkpoint.
///
/// The ring's snapshots around the steepest rise become checkpoints once they are all there, and at the end
/// or a stop those that are; they replace those of a rise less steep. After a kill the ring begins anew at
/// the checkpoint from which the run goes on, and knows from the tables how steep the score has risen: of a
/// window that reaches back before there, it has the later part.
bool train_run(Trainer& trainer, const RunDirectory& run, const RunObserver& observer);

}  // namespace tapehead
