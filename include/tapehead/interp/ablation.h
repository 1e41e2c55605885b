/// What the loss and the accuracy do when heads, or a layer's feed-forward output, are taken out.
#pragma once

#include <vector>

#include "tapehead/interp/ablated_evaluation.h"
#include "tapehead/interp/bootstrap.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// One ablation, against the same sequences without it. Changes are ablated less plain; all are means over
/// sequences with 95 % paired bootstrap intervals.
struct Ablation {
  Removal removal = {};
  Estimate change_loss = {};  ///< on all positions, in nats, as are the next two
  Estimate change_induction = {};
  Estimate change_noise = {};
  Estimate change_accuracy_induction = {};  ///< in hits a position, from -1 to 1
  Estimate change_accuracy_noise = {};
  Estimate accuracy_induction = {};  ///< with the ablation
  double accuracy_plain = 0;         ///< on induction positions without it, a mean over sequences too
};

/// A model's ablations, and what they are measured against.
struct AblationStudy {
  Evaluation plain;
  std::vector<Ablation> ablations;  ///< one a removal
};

/// Evaluates the model plain and with each removal, and compares. Throws as evaluate_ablated does.
AblationStudy ablate(const Transformer& model, const Batch& batch, const Batch& reference,
                     const std::vector<Removal>& removals, const EvaluateOptions& options = {});

/// The same from evaluations that were made before, one a removal.
std::vector<Ablation> compare(const AblatedEvaluations& evaluations, const std::vector<Removal>& removals);

/// Each of these components alone, by each of these kinds: kind after kind.
std::vector<Removal> single_removals(const std::vector<AblationKind>& kinds,
                                     const std::vector<Site>& components);

/// The columns of ablation_table from change_loss to accuracy_plain, and the cells of one ablation.
std::vector<std::string> measured_columns();
std::vector<std::string> measured_cells(const Ablation& ablation);

/// One row an ablation of one component: kind, layer, head (or `all`, or `feed_forward`), change_loss,
/// change_induction with low and high, change_noise, accuracy_induction; then the other intervals, the
/// changes in accuracy, the accuracy without the ablation, and of which step and on how many sequences it was
/// made.
CsvTable ablation_table(const std::vector<Ablation>& ablations, Index step, Index sequences);

}  // namespace tapehead
