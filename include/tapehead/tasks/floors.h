/// How well a task can be solved at all: the losses of the best predictors that are shown a part of a
/// sequence, exact, so that a model's loss can be read against them.
///
/// Of all functions of what it is shown, a predictor here is the best: it knows how the task draws its
/// sequences, and gives the next token the probability that follows (Bayes). In expectation nobody beats it
/// without seeing more; on one batch luck can. A model is not bound by the first two: it may also look at
/// what they are not shown.
#pragma once

#include <string_view>
#include <vector>

#include "tapehead/tasks/task.h"

namespace tapehead {

/// One predictor's results on a batch: means over positions, in nats; NaN where there are no such positions.
struct Floor {
  /// "chance" sees nothing, and all tokens are alike to it: ln V.
  /// "current token" sees View::current_token: at best it copies what followed the current token before, and
  /// weighs one such place against another by where the task can have put them.
  /// "last two" sees View::last_two: where both tokens stood together before, that tells more; where they did
  /// not, it has the current token's places to fall back on.
  /// "Bayes" sees everything: the lowest expected loss that there is.
  std::string_view predictor;
  double loss = 0;
  double loss_induction = 0;
  double loss_noise = 0;
  /// Of equally likely best tokens, each counts as its share.
  double accuracy_induction = 0;
};

/// The longest sequences, in positions, for which the three that look at a sequence are computed.
inline constexpr Index kLongestFloor = 1024;

/// How many sequences of a batch, its first ones, the floors are computed on: all, unless long sequences
/// would take more than some seconds; at least one.
Index floor_sequences(const Batch& batch);

/// The floors of a batch that this task drew, on its first floor_sequences(batch): in the order above, with
/// chance alone for a task that has no law (a text) and for sequences that are too long. The same bits for
/// any number of threads. Throws Error for a batch without sequences.
std::vector<Floor> floors(const Task& task, const Batch& batch, int threads);

}  // namespace tapehead
