/// Whether a run's page tells what the run tells.
#pragma once

#include "tapehead/study/verify.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// Compares the run's page with one made of the run as it is now: tables cell by cell, weights and maps
/// number by number, everything else to the letter. Where the run was found, and by which version and machine
/// the page was written, is passed over. Throws Error for a file that is no page, and where it cannot be made
/// again.
Verified verify_page(const RunDirectory& run, const VerifyOptions& options);

}  // namespace tapehead
