/// Patching: what of a clean run has to be put into a corrupted one for it to answer as the clean one does.
///
/// The metric m is the log-probability, in nats, of the clean target at the query, a mean over sequences. The
/// effect of a patch is (m_patched - m_corrupted) / (m_clean - m_corrupted): 0 where nothing is restored, 1
/// where all is; it may lie beyond either. Effects of several places do not sum to 1: what is handed on from
/// place to place is restored at each of them.
#pragma once

#include <vector>

#include "tapehead/interp/bootstrap.h"
#include "tapehead/interp/patching_grid.h"
#include "tapehead/interp/patching_pairs.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

inline constexpr Index kAllPositions = -1;

struct Patch {
  Site site;  ///< one head of it, or all
  Index position = kAllPositions;
  Estimate effect = {};  ///< a ratio of means, sequences resampled in pairs
};

struct Patching {
  PatchingGrid grid;
  double clean = 0;           ///< m of the clean sequences, in nats
  double corrupted = 0;       ///< m of the corrupted ones
  Estimate difference = {};   ///< clean - corrupted
  double accuracy_clean = 0;  ///< at the query
  double accuracy_corrupted = 0;
  std::vector<Patch> patches = {};
};

/// Patches every place of the grid, one at a time: clean values into the corrupted run, at positions up to
/// the query. With a receiver, what the patch changes goes to it by the direct path alone: in a first run
/// all other attention and feed-forward outputs between the two stay as in the corrupted run, and what the
/// receiver then reads is put into a second one (path patching: Wang et al. 2023, appendix B; Goldowsky-Dill
/// et al. 2023). Places not below the receiver are left out. The same bits for any number of threads.
/// Throws UsageError for a grid that the model does not have, or of which nothing lies below the receiver,
/// and for more sequences than fit in memory; Error where the right token is not likelier on the clean
/// sequences by more than their spread (the 95 % interval of the difference), for then there is nothing to
/// restore.
Patching patch(const Transformer& model, const PatchingPairs& pairs, const PatchingGrid& grid,
               const EvaluateOptions& options = {});

/// One row a patch: site, by, to, layer (`final`: the final residual), head, position, role, effect, low,
/// high, clean, corrupted, step, sequences, sequence (whose structure they have; empty: random ones), query,
/// period.
CsvTable patching_table(const std::vector<Patching>& patchings, const PatchingPairs& pairs, Index step);

/// The grids of such a table, in order, each of all layers. Throws UsageError for one that the model does not
/// have.
std::vector<PatchingGrid> grids_of(const CsvTable& patchings, const ModelConfig& config);

/// The rows of `earlier` followed by those of `fresh`, without the grids that `fresh` has anew; `fresh` alone
/// if the earlier ones were made of another step or other sequences.
CsvTable with_grids(const CsvTable& earlier, const CsvTable& fresh);

}  // namespace tapehead
