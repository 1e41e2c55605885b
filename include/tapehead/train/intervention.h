/// What the interventions of a config do to a training pass: each an edit, recorded on the tape, so that
/// gradients are those of the model as it was changed.
///
/// Every pass of a shard is changed by itself: `mean` is the mean over the sequences of that pass, a shard's
/// in training, one of EvaluateOptions in an evaluation. The parameters behind what is cut off get no
/// gradient; weight decay still acts on them.
#pragma once

#include <string>

#include "tapehead/nn/edits.h"
#include "tapehead/train/config.h"

namespace tapehead {

/// Adds it, whenever it acts, to `edits`. Throws Error for a site that no Transformer has.
void add_intervention(Edits& edits, const Intervention& intervention);

/// Whether it acts on the update made at `step`: from <= step < to.
bool acts_at(const Intervention& intervention, Index step);

/// "zero at blocks.0.attention.head_output head 1, from step 0 to 300".
std::string in_words(const Intervention& intervention);

/// Those of the config that act on the update made at `step`, in their order.
Edits interventions_at(const Config& config, Index step);

/// Those who watch a pass that is changed so: they see it as changed. It refers to `edits`.
Watch edited(Edits& edits, const Watch& watch);

}  // namespace tapehead
