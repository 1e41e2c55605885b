/// Whether a run's page tells what the run tells.
#pragma once

#include "tapehead/study/verify.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// Compares the run's page with one made of the run as it is now: tables cell by cell, weights and maps
/// number by number, everything else to the letter, and what shows them, markup, style and script, with what
/// this version writes. Where the run was found, and on which machine the page was written, is passed over;
/// of a page of another version, what shows it is left out. Throws Error for a file that is no page, and
/// where it cannot be made again.
Verified verify_page(const RunDirectory& run, const VerifyOptions& options);

}  // namespace tapehead
