#include "tapehead/train/snapshot_ring.h"

#include <cmath>
#include <utility>

namespace tapehead {

SnapshotRing::SnapshotRing(const TrainConfig& config)
    : count_(config.ring_snapshots), interval_(config.ring_interval) {}

bool SnapshotRing::wants(Index step) const { return count_ > 0 && step % interval_ == 0; }

void SnapshotRing::keep(Snapshot snapshot) {
  if (static_cast<Index>(snapshots_.size()) == count_) snapshots_.pop_front();
  snapshots_.push_back(std::make_shared<const Snapshot>(std::move(snapshot)));
}

void SnapshotRing::scored(double step, double score) {
  if (count_ == 0 || !std::isfinite(score)) return;
  if (before_ && before_->step < step) {
    const double rise = (score - before_->score) / (step - before_->step);
    if (rise > steepest_) {
      steepest_ = rise;
      end_ = last_->step + static_cast<double>(count_ * interval_) / 2;
      is_due_ = true;
    }
  }
  before_ = std::exchange(last_, Heard{step, score});
}

bool SnapshotRing::is_in_window(Index step) const {
  const auto at = static_cast<double>(step);
  return end_ && wants(step) && at > *end_ - static_cast<double>(count_ * interval_) && at <= *end_;
}

SnapshotRing::Snapshots SnapshotRing::take_window(Index step, bool unfinished) {
  Snapshots window;
  if (!is_due_ || (static_cast<double>(step) < *end_ && !unfinished)) return window;
  for (const auto& snapshot : snapshots_)
    if (is_in_window(snapshot->step)) window.push_back(snapshot);
  is_due_ = false;
  return window;
}

}  // namespace tapehead
