/// How far a sweep is: one line for all its runs, rewritten on a terminal, plain log lines elsewhere.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead::app {

/// May be told from any thread.
class SweepProgress {
 public:
  /// Of so many runs, of so many steps each.
  SweepProgress(std::size_t runs, Index steps);
  ~SweepProgress();
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  /// A run's step; the first of a run is where it begins or goes on.
  void reached(std::size_t run, Index step);
  /// A run is over, at its last step or before.
  void ended(std::size_t run, bool finished);
  /// A warning on a line of its own.
  void warn(const std::string& message);

 private:
  using Clock = std::chrono::steady_clock;

  void show_if_due();
  void show();
  /// Seconds, or none while too little is known.
  std::optional<double> time_left() const;
  void clear_line();

  const Index steps_;
  const bool on_terminal_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::vector<Index> at_;  ///< each run's step
  std::vector<bool> over_;
  std::size_t finished_ = 0;
  Index trained_ = 0;  ///< steps taken here
  Clock::time_point next_show_;
  bool line_open_ = false;
};

}  // namespace tapehead::app
