/// How far a training is.
#pragma once

#include "tapehead/app/status_line.h"
#include "tapehead/base/number.h"
#include "tapehead/report/learning_text.h"

namespace tapehead::app {

class Progress {
 public:
  /// For steps first + 1, ..., last, each of `tokens_per_step` tokens.
  Progress(Index first, Index last, Index tokens_per_step);

  /// Shows step, loss, tokens a second and the time left, as often as somebody can read, and with them what
  /// is learnt, if that is given.
  void update(Index step, double loss, const LearningText* learning = nullptr);

 private:
  Index first_;
  Index last_;
  Index tokens_per_step_;
  StatusLine::Clock::time_point start_;
  StatusLine line_;
};

}  // namespace tapehead::app
