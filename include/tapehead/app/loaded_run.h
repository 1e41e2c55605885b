/// A run opened for looking at: its folder, a checkpoint's model, and the batch it is evaluated on.
#pragma once

#include "tapehead/app/arguments.h"
#include "tapehead/tasks/task.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/run_directory.h"

namespace tapehead::app {

struct LoadedRun {
  RunDirectory directory;
  Checkpoint checkpoint;
  std::unique_ptr<Task> task;
  Batch batch;
};

/// Adds --step (which checkpoint).
void add_step_option(Arguments& arguments);
/// The run's checkpoint that --step names, or the last. Throws UsageError where there is no such checkpoint,
/// and Error for one that holds a number that is not finite.
Checkpoint chosen_checkpoint(const Arguments& arguments, const RunDirectory& run);

/// The number that --sequences gives. Throws UsageError for one below `least`, and for more sequences of that
/// length than fit in memory.
Index sequences_given(const Arguments& arguments, Index least, Index length);

/// Adds --step, --sequences (how many to evaluate on), --threads and --json.
void add_run_options(Arguments& arguments);
/// Opens the run that the arguments name. Throws UsageError where there is none, or no such checkpoint.
LoadedRun load_run(const Arguments& arguments);

/// Opens the runs that the arguments name, in their order; one that is named twice counts once, with a
/// warning. Throws UsageError where there is none.
std::vector<RunDirectory> open_runs(const Arguments& arguments);

}  // namespace tapehead::app
