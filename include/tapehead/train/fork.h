/// A run that goes on from a checkpoint of another, under a config that may differ in what comes after.
///
/// The child has the parent's model, optimizer and data to come, and the rows of its tables up to there, so
/// its curves are whole. Without a change it comes to the parent's bits. Its config is about its own updates:
/// an intervention acts from the fork's step at the earliest. A child of step 0 begins its tables anew.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "tapehead/train/run_directory.h"

namespace tapehead {

/// Throws UsageError, naming the field and the reason, if the configs differ in more than a fork may change:
/// the model (but for its dropout), the task, the data and seeds, the batch, the kind of optimizer, and the
/// sequences of an evaluation.
void require_forkable(const Config& parent, const Config& child);

/// Makes the child's folder at `out`, locked, with the parent's config under `overrides`; it is trained as a
/// run that is resumed. Throws UsageError as above, as read_config and RunDirectory::create do, for a step
/// without a checkpoint, and where no update is left; Error if the parent's tables lack rows.
RunDirectory fork_run(const RunDirectory& parent, Index step, std::span<const std::string> overrides,
                      const std::filesystem::path& out, bool overwrite = false);

}  // namespace tapehead
