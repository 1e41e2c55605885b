/// What every head looked at, on a few sequences, at every checkpoint of a run: the training as a film.
#pragma once

#include <string>
#include <vector>

#include "tapehead/report/packed.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

struct PatternHistory {
  /// Whose weights are shown: the run's first sequences of evaluation, cut to their first positions.
  Batch sequences;
  Index of_positions = 0;    ///< that a sequence had before it was cut
  std::vector<Index> steps;  ///< of the checkpoints, in order
  /// An entry a checkpoint: the weights of all sequences, layers and heads in turn, each the rows of its
  /// pattern up to the diagonal, B L H T(T + 1)/2 of them.
  std::vector<Packed> weights;
  Index checkpoints = 0;            ///< that the run has
  std::vector<std::string> faults;  ///< of checkpoints that cannot be read
};

/// Of at most `sequences` sequences and `positions` positions. Where all that is more than `most` weights,
/// checkpoints are left out evenly, but for the first and the last; one remains in any case.
struct PatternHistoryOptions {
  Index sequences = 4;
  Index positions = 64;
  Index most = 4'000'000;
  int threads = 1;
};

/// `task` is the run's. Where an intervention was at work, patterns are those of the model without it. The
/// same bits for any number of threads. Throws Error for a run without a checkpoint that can be read.
PatternHistory pattern_history(const RunDirectory& run, const Task& task,
                               const PatternHistoryOptions& options = {});

}  // namespace tapehead
