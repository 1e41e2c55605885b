/// What the loss does when a head, or a layer's attention, is taken out.
#pragma once

#include <cstdint>
#include <vector>

#include "tapehead/nn/edits.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

/// A mean over sequences, with its 95 % bootstrap interval.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;
};

/// The mean of `values` and the percentile interval of the means of 2,000 resamples of them (Efron and
/// Tibshirani 1993, chapter 13), drawn from `seed`. NaN entries are left out.
Estimate bootstrap(const std::vector<double>& values, std::uint64_t seed);

/// One ablation, against the same sequences without it. Changes are ablated minus plain, in nats.
struct Ablation {
  Index layer = 0;
  Index head = kAllHeads;
  Estimate change_loss = {};
  Estimate change_induction = {};
  Estimate change_noise = {};
  Estimate change_accuracy_induction = {};  ///< in hits a position, from -1 to 1
  Estimate change_accuracy_noise = {};
  Estimate accuracy_induction = {};  ///< with the ablation
  double accuracy_plain = 0;         ///< on induction positions without it, a mean over sequences too
};

/// Zeroes one head's output (or, for kAllHeads, every head of the layer) before the output projection, whose
/// bias stays, and evaluates. `plain` is the evaluation of the same batch without an edit. Throws Error for
/// one of another batch, and for a head that the model does not have.
Ablation zero_ablation(const Transformer& model, const Batch& batch, const Evaluation& plain, Index layer,
                       Index head, const EvaluateOptions& options = {});

/// Every head alone, and every layer whole, to the bits that zero_ablation gives. What lies below a head is
/// run once for all heads of its layer.
std::vector<Ablation> ablate_all_heads(const Transformer& model, const Batch& batch, const Evaluation& plain,
                                       const EvaluateOptions& options = {});

/// One row an ablation: kind, layer, head or `all`, change_loss, change_induction with low and high,
/// change_noise, accuracy_induction; then the other intervals, the changes in accuracy, the accuracy without
/// the ablation, and of which step and on how many sequences it was made.
CsvTable ablation_table(const std::vector<Ablation>& ablations, Index step, Index sequences);

}  // namespace tapehead
