/// A layer's heads taken out in every combination: who does the work when heads can stand in for one another.
///
/// The game: the players are a layer's heads, and v(S) is the rise in loss on induction positions, in nats,
/// when the heads of S are ablated together and all others are left as they are. Heads that stand in for one
/// another cost little one by one and much together: v(all) is above the sum of v({i}), their interaction is
/// positive, and single-head ablation understates them.
#pragma once

#include <string>
#include <vector>

#include "tapehead/interp/ablation.h"
#include "tapehead/interp/shapley.h"

namespace tapehead {

/// Accuracies on induction positions, as a share of the way from guessing to the plain model's: the behaviour
/// is broken below the first, and kept from the second on.
inline constexpr double kBrokenBelow = 0.5;
inline constexpr double kKeptFrom = 0.9;
/// A plain model that is not so far on the way from guessing to an accuracy of 1 does not show the behaviour,
/// and has nothing to break or keep.
inline constexpr double kThereFrom = 0.1;
/// What is held of every subset would not fit otherwise.
inline constexpr Index kMostSubsetHeads = 16;
/// Of which they are taken unasked.
inline constexpr Index kDefaultMostHeads = 8;

struct HeadShare {
  Index head = 0;
  Estimate shapley = {};  ///< nats; those of a layer sum to v(all)
  Estimate alone = {};    ///< v({head})
  double share = 0;       ///< of v(all); NaN where that may be 0 by its interval
};

struct PairInteraction {
  Index first = 0;
  Index second = 0;
  Estimate index = {};  ///< nats; above 0 they stand in for one another, below 0 need one another
};

struct LayerSubsets {
  AblationKind kind = AblationKind::zero;
  Index layer = 0;
  double chance = 0;                   ///< the accuracy of guessing
  std::vector<Ablation> subsets = {};  ///< entry S has the heads of S ablated, so the first has none
  std::vector<HeadShare> heads = {};
  std::vector<PairInteraction> pairs = {};
  Estimate excess = {};                  ///< v(all) less the sum of v({i}), in nats
  std::vector<PlayerSet> breaking = {};  ///< the smallest sets whose removal breaks the behaviour
  std::vector<PlayerSet> keeping = {};   ///< the smallest sets that keep it alone, the layer's others ablated

  const Estimate& whole() const { return subsets.back().change_induction; }  ///< v(all)
  double plain() const { return subsets.front().accuracy_plain; }            ///< accuracy without ablation
  double broken_below() const { return chance + kBrokenBelow * (plain() - chance); }
  double kept_from() const { return chance + kKeptFrom * (plain() - chance); }
  double there_from() const { return chance + kThereFrom * (1 - chance); }
  bool behaviour_is_there() const { return plain() >= there_from(); }
};

/// Whether single-head ablation understates the layer (excess above 0 by its interval and by a tenth of
/// v(all)), overstates it (below, likewise), or neither.
enum class SingleHeads { understate, overstate, add_up };
SingleHeads single_heads(const LayerSubsets& layer);

/// Every subset of the heads of each of these layers, by one kind of ablation. Intervals of shares and
/// interactions come from the same paired bootstrap, over each sequence's own game.
/// Throws Error as evaluate_ablated does, and for more than kMostSubsetHeads heads.
std::vector<LayerSubsets> ablate_subsets(const Transformer& model, const Batch& batch, const Batch& reference,
                                         AblationKind kind, const std::vector<Index>& layers,
                                         const EvaluateOptions& options = {});

/// "none", "1", "0+2".
std::string set_name(PlayerSet heads);

/// One row a set of heads ablated together: kind, layer, heads, count, the columns of an ablation's
/// measurements, then 1 or 0 for `broken`, `kept`, `smallest_breaking` (its removal), and `smallest_keeping`
/// (what is left of the layer), step and sequences.
CsvTable subsets_table(const std::vector<LayerSubsets>& layers, Index step, Index sequences);
/// One row a head: kind, layer, head, shapley with low and high, share, alone with its interval, whole_layer
/// with its, excess with its, step, sequences.
CsvTable shapley_table(const std::vector<LayerSubsets>& layers, Index step, Index sequences);
/// One row a pair: kind, layer, first, second, interaction with low and high, step, sequences.
CsvTable interactions_table(const std::vector<LayerSubsets>& layers, Index step, Index sequences);

}  // namespace tapehead
