/// All figures of a run, from what its folder holds.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tapehead/train/run_directory.h"

namespace tapehead {

struct DrawnFigures {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> faults;  ///< of figures whose data cannot be read or drawn, each said once
};

/// Draws into the run's figures folder, each as SVG and PNG: `loss` and `heads` from the tables of those
/// names, `attention` from the newest checkpoint, and one for each further table that has a figure of its
/// name. What has no data yet is left out, and what cannot be drawn holds up nothing else.
DrawnFigures draw_figures(const RunDirectory& run);

/// Draws `curves` of several runs into a folder, from their metrics, and returns the files. Throws Error
/// where these cannot be read, and as draw does.
std::vector<std::filesystem::path> draw_curves(std::span<const RunDirectory> runs,
                                               const std::filesystem::path& folder);

}  // namespace tapehead
