/// When the heads of a run formed, and the bump this left in its losses, read off the run's evaluations.
///
/// Steps are those of evaluations; nothing is interpolated between them. What had not happened by the last
/// evaluation is left open, never guessed: such a run is censored at `last_step`, and still counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tapehead/train/csv.h"

namespace tapehead {

/// A run's evaluations in order, an entry each; NaN where a value is missing.
struct LearningCurves {
  std::vector<double> steps;
  std::vector<double> tokens;  ///< seen so far
  std::vector<double> loss;    ///< on all positions, in nats
  std::vector<double> loss_noise;
  std::vector<double> accuracy_induction;
};

/// The loss on all positions is smoothed by a mean under a Gaussian in ln(tokens) of this deviation, over the
/// straight lines between evaluations: it makes no bend that is not there. Step 0, at ln 0, is left out.
inline constexpr double kSmoothing = 0.1;
/// A bump of less, in nats, is taken for noise.
inline constexpr double kLeastBump = 0.05;

/// The stretch where the smoothed loss on all positions, against ln(tokens), bends downward: its slope falls
/// from evaluation to evaluation. Of several, the one that rises most above the line from its start to its
/// end.
struct Bump {
  Index start = 0;                ///< the last step before the slope begins to fall
  Index top = 0;                  ///< furthest above that line
  std::optional<Index> end = {};  ///< the steepest descent; open if the slope still falls at the run's end
  double height = 0;              ///< nats above that line at the top
};

/// The hump of the loss on noise positions, each value the median of three evaluations, so that one out of
/// line does not count: the largest rise above an earlier low, if half of its height is gone again by the
/// end.
struct NoiseHump {
  Index start = 0;                ///< furthest below the line from that low to the top, against steps
  Index top = 0;                  ///< where it is highest
  std::optional<Index> end = {};  ///< first with nine tenths of the height gone; open if there is none
  double level = 0;               ///< nats at the start: the level before
  double height = 0;              ///< nats from there to the top
};

/// The fastest rise of the accuracy between two evaluations with one between them.
struct SteepestRise {
  double per_step = 0;
  Index step = 0;  ///< of the evaluation between them
};

struct Formation {
  Index last_step = 0;              ///< nothing is known past it
  std::optional<Index> onset = {};  ///< first evaluation with an accuracy on induction positions above 10 %
  std::optional<Index> half = {};   ///< above 50 %
  std::optional<Index> done = {};   ///< above 90 %
  std::optional<SteepestRise> steepest = {};
  std::optional<Bump> bump = {};
  std::optional<NoiseHump> hump = {};

  /// Steps from onset to done.
  std::optional<Index> width() const;
};

/// Throws Error for curves of different lengths, and for steps or tokens that do not grow.
Formation formation_of(const LearningCurves& curves);

/// From a run's metrics: columns step, tokens, and as far as they are there loss, loss_noise,
/// accuracy_induction.
Formation formation_of(const CsvTable& metrics);

/// The same in words, a line each.
std::vector<std::string> describe(const Formation& formation);

}  // namespace tapehead
