/// Snapshots of the last steps of a run, from which those around the steepest rise of a score are taken.
///
/// A rise is what the score gains a step, over two evaluations with one between them, as in a formation
/// report. The window around the steepest so far is as long as the ring, with the evaluation between in its
/// middle. It is handed out once, when its last snapshot is there; after a steeper rise there is another. A
/// run in which nothing forms has such a window too, around some rise by chance.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tapehead/train/checkpoint.h"

namespace tapehead {

class SnapshotRing {
 public:
  using Snapshots = std::vector<std::shared_ptr<const Snapshot>>;

  /// Of `ring_snapshots` snapshots, `ring_interval` steps apart. Without any it does nothing.
  explicit SnapshotRing(const TrainConfig& config);

  /// Whether a snapshot of this step is wanted.
  bool wants(Index step) const;
  /// Keeps one, which is of a later step than those before, and lets go of the oldest.
  void keep(Snapshot snapshot);
  /// Hears of an evaluation, in their order. One that is not a number counts as none.
  void scored(double step, double score);

  /// Whether a snapshot of this step belongs to the window around the steepest rise so far.
  bool is_in_window(Index step) const;

  /// The snapshots of the window, in order: once they are all there by this step, or, `unfinished`, those
  /// that are there. Empty where none is due.
  Snapshots take_window(Index step, bool unfinished = false);

 private:
  Index count_;
  Index interval_;
  std::deque<std::shared_ptr<const Snapshot>> snapshots_;
  struct Heard {
    double step;
    double score;
  };
  std::optional<Heard> last_;
  std::optional<Heard> before_;  // the one before the last
  double steepest_ = 0;
  std::optional<double> end_;  // of the window around the steepest rise
  bool is_due_ = false;        // whether that window is still to be handed out
};

}  // namespace tapehead
