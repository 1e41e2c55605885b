/// A run's training, done again in a folder of its own, from the first of its checkpoints.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tapehead/train/run_directory.h"

namespace tapehead {

struct ReplayOptions {
  int threads = 1;
  /// Called after every step, with its loss before the update.
  std::function<void(Index step, double loss)> stepped = {};
  /// Asked after every step: whether to give up.
  std::function<bool()> should_stop = {};
};

/// A checkpoint that does not hold what came out again.
struct Departure {
  Index step;
  std::string what;  ///< it holds, in words
};

struct Replay {
  /// The step of the checkpoint, and of the rows up to there, that it took from the run to begin with.
  std::optional<Index> given = {};
  std::vector<Index> compared;       ///< steps of checkpoints that were come by
  std::vector<Index> missing;        ///< steps of those that the config asks for and the run has not
  std::vector<Departure> different;  ///< those that do not hold what came out
  bool is_whole = false;             ///< false if it was asked to give up
};

/// Trains in `folder`, which becomes a run, up to the last step of `run`, and compares its checkpoints on the
/// way to the bit. A run begins with its config's seeds, unless its first checkpoint says otherwise: one that
/// was imported or forked begins with that, and with the rows of its tables up to there. Throws Error as
/// train_run does.
Replay replay(const RunDirectory& run, const std::filesystem::path& folder, const ReplayOptions& options);

}  // namespace tapehead
