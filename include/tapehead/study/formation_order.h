/// In what order the parts of a circuit move as it forms: the scores of its heads, and the losses.
///
/// Something has moved at the first evaluation from which on at least half of the way from one level to
/// another is covered and never left again, and began at the first from which on a tenth is. What goes less
/// far than a stated least way does neither. Times are those of evaluations, so two that come out at one step
/// are in no order.
///
/// This tells what came first, not what caused what; an intervention may.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/study/formation.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Of the way: what has to be covered for something to have begun, and to have moved.
inline constexpr double kBegun = 0.1;
inline constexpr double kMoved = 0.5;
/// The shortest way of a score, and of a loss in nats, that counts as a move.
inline constexpr double kLeastScoreMove = 0.05;
inline constexpr double kLeastLossMove = 0.1;

/// The scores that are followed, as columns of a run's head table; those it lacks are left out.
inline constexpr std::string_view kFollowedScores[] = {"previous_token", "k_composition", "copying",
                                                       "induction"};

struct Move {
  std::string name;                 ///< the column
  std::string head;                 ///< "0.1" for head 1 of layer 0; empty for a loss
  double from = 0;                  ///< the level before
  double to = 0;                    ///< the level after
  std::optional<Index> began = {};  ///< open: not by the last evaluation
  std::optional<Index> moved = {};
};

/// The place of the first value from which on all values (but those that are missing, NaN) have covered this
/// share of the way; none if there is no such value or the way is shorter than `least`.
std::optional<std::size_t> covered_at(std::span<const double> values, double from, double to, double share,
                                      double least);

/// A score is followed in one head: the one that scores highest at the last evaluation (of equals the first).
/// It goes from its level at the first evaluation to its highest, and is followed up to there: K-composition
/// falls again once the circuit is sharp. `heads` is a run's table of head scores.
std::vector<Move> score_moves(const CsvTable& heads);

/// The losses on induction positions and on all positions go from their plateau, the last evaluation before
/// the onset, to the last evaluation; without an onset the plateau was never left. The loss on noise goes
/// from the level before its hump to the hump's top, and is followed up to there. Losses that `metrics` lacks
/// are left out.
std::vector<Move> loss_moves(const CsvTable& metrics, const Formation& formation);

/// By the step at which they have moved; of one step, and those that have not, in the order given.
std::vector<Move> in_order(std::vector<Move> moves);

}  // namespace tapehead
