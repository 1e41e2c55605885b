/// How far a training is: one line that is rewritten on a terminal, plain log lines elsewhere.
#pragma once

#include <chrono>

#include "tapehead/base/number.h"

namespace tapehead::app {

class Progress {
 public:
  /// For steps first + 1, ..., last, each of `tokens_per_step` tokens.
  Progress(Index first, Index last, Index tokens_per_step);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows step, loss, tokens a second and the time left, as often as somebody can read.
  void update(Index step, double loss);

 private:
  void show(Index step, double loss);

  using Clock = std::chrono::steady_clock;
  Index first_;
  Index last_;
  Index tokens_per_step_;
  bool on_terminal_;
  Clock::time_point start_;
  Clock::time_point next_show_;
  bool line_open_ = false;
};

}  // namespace tapehead::app
