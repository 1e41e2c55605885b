/// In-context learning: how much less a token costs late in a sequence than early, over a run's checkpoints.
///
/// The score is the loss at a late position less the loss at an early one of the same sequences, in nats:
/// negative where the context helps (Olsson et al. 2022, "In-context learning and induction heads", who take
/// tokens 500 and 50; elsewhere the sign is flipped). The finer picture is the slope d loss / d ln(position),
/// position by position and checkpoint by checkpoint.
///
/// Positions count from 1 here: position p is where the model has read p tokens and says the next.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tapehead/interp/bootstrap.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/evaluate.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// Neighbouring positions, both ends included.
struct PositionBand {
  Index first = 1;
  Index last = 1;

  /// The mean of ln(position) over them.
  double mean_log() const;
  friend bool operator==(const PositionBand&, const PositionBand&) = default;
};

struct ContextOptions {
  Index early = 50;
  Index late = 500;
  /// Single positions are noisy: both are means over the positions from p (1 - spread) to p (1 + spread), as
  /// far as the sequence has them. At 0 it is the position alone.
  double spread = 0.1;
  Index sequences = 256;
};
/// How many sequences it is measured on, where nothing else is asked for.
inline constexpr Index kContextSequences = ContextOptions{}.sequences;

/// Early and late as given, or else 50 and 500 where sequences have 500 positions, and in shorter ones the
/// tenth part of the length and its end. Throws UsageError unless 1 <= early < late <= length and their two
/// bands do not overlap, and for a spread that is not from 0 to below 1.
ContextOptions context_options(Index length, std::optional<Index> early, std::optional<Index> late,
                               double spread = ContextOptions{}.spread);

/// The positions around one, in a sequence of that length.
PositionBand band_around(Index position, double spread, Index length);

/// All positions of a sequence in bands, two each time the position doubles: 1, 2, 3, 4 to 5, 6 to 7, 8 to
/// 10, ... At the end, less than half a band belongs to the one before.
std::vector<PositionBand> position_bands(Index length);

/// Of one model.
struct ContextLosses {
  Index step = 0;
  std::vector<double> losses = {};  ///< the mean of each of position_bands, in nats
  /// d loss / d ln(position) at each: between the bands before and after, and at both ends to the one that is
  /// there; NaN for a single band.
  std::vector<double> slopes = {};
  Estimate score = {};  ///< over sequences, in nats
  double early = 0;
  double late = 0;  ///< the two losses that make it
};

/// Throws Error for positions that the evaluation's sequences do not have.
ContextLosses context_losses(const Evaluation& evaluation, const ContextOptions& options);

/// Of the run's checkpoints of these steps, each on the same held-out sequences of its task, by its
/// evaluation's seed. `measured` is called after each. The same bits for any number of threads.
std::vector<ContextLosses> context_of_run(const RunDirectory& run, std::span<const Index> steps,
                                          const ContextOptions& options, const EvaluateOptions& evaluation,
                                          const std::function<void(const ContextLosses&)>& measured = {});

/// One row a checkpoint and band: step, first_position, last_position, loss, slope; then, the same in all
/// rows of a step, score, score_low, score_high, loss_early, loss_late; and what it was made with: early,
/// late, spread, sequences.
CsvTable context_table(const std::vector<ContextLosses>& checkpoints, Index length,
                       const ContextOptions& options);

}  // namespace tapehead
