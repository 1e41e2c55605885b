/// The one-layer twin of a run: the same data, seeds and training, one layer. What it can do needs no
/// induction head, since nothing tells its only layer what came before each token.
#pragma once

#include <optional>

#include "tapehead/train/run.h"

namespace tapehead {

/// The twin's config, without interventions, whose sites it may not have. Throws UsageError, saying why, for
/// a config that can have none: of a model that was imported, whose training is not known, or that has no
/// more than one layer itself.
Config one_layer_twin(const Config& config);

/// Where a run's twin is kept: a run of its own, in the run's folder.
std::filesystem::path twin_folder(const RunDirectory& run);

/// The twin's trained model. A twin that is there is used as it is, and one that was stopped is gone on with.
/// Nothing if the observer asked to stop. Throws UsageError if another run is at its place, and as
/// one_layer_twin and train_run do.
std::optional<Checkpoint> trained_twin(const RunDirectory& run, int threads,
                                       const RunObserver& observer = {});

}  // namespace tapehead
