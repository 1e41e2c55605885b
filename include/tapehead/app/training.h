/// What `train` and `fork` have in common: training a run to its end, with progress, until Ctrl-C.
#pragma once

#include "tapehead/train/run_directory.h"
#include "tapehead/train/trainer.h"

namespace tapehead::app {

/// What is to be trained, and where it is written.
struct Job {
  RunDirectory run;
  Trainer trainer;
};

/// Trains to the config's last step, telling what is done, and how to go on if it was stopped. Returns the
/// exit status.
int train_job(Job& job);

}  // namespace tapehead::app
