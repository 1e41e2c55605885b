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
  Batch batch;
};

/// Adds --step (which checkpoint), --sequences (how many to evaluate on), --threads and --json.
void add_run_options(Arguments& arguments);
/// Opens the run that the arguments name. Throws UsageError where there is none, or no such checkpoint.
LoadedRun load_run(const Arguments& arguments);

}  // namespace tapehead::app
