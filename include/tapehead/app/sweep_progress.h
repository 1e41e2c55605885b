/// How far a sweep is: one line for all its runs.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tapehead/app/status_line.h"
#include "tapehead/base/number.h"

namespace tapehead::app {

/// May be told from any thread.
class SweepProgress {
 public:
  /// Of as many runs, each to its last step.
  explicit SweepProgress(std::vector<Index> last_steps);

  /// A run's step; the first of a run is where it begins or goes on.
  void reached(std::size_t run, Index step);
  /// A run is over, at its last step or before.
  void ended(std::size_t run, bool finished);
  /// A warning on a line of its own.
  void warn(const std::string& message);

 private:
  void show();
  /// Seconds, or none while too little is known.
  std::optional<double> time_left() const;

  const std::vector<Index> last_steps_;
  const StatusLine::Clock::time_point start_ = StatusLine::Clock::now();
  std::mutex mutex_;
  StatusLine line_;
  std::vector<Index> at_;  ///< each run's step
  std::vector<bool> over_;
  std::size_t finished_ = 0;
  Index trained_ = 0;  ///< steps taken here
};

}  // namespace tapehead::app
