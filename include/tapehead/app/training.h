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
/// exit status. The trainer has started together with those of the other ranks.
int train_job(Job& job);

/// What the other ranks do meanwhile.
int follow_job(Trainer& trainer);

/// As start_together, on rank 0, which says what there is to warn of.
void start_job(Trainer& trainer);

/// The same for a run that is there, whose config rank 0 alone has, and what the other ranks do then.
void start_job_of_rank_0(Trainer& trainer);
int follow_rank_0(const Workers& workers);

}  // namespace tapehead::app
