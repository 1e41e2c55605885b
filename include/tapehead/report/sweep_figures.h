/// The figures of sweeps, side by side.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include "tapehead/report/figures.h"
#include "tapehead/study/sweep_folder.h"

namespace tapehead {

inline constexpr std::array<std::string_view, 3> kFiguresOfSweeps{"formation", "phase", "curves"};

/// Draws into a folder: `formation`, a row a sweep, or of a grid a row a setting; `phase`, maps of the one
/// sweep whose grid has two or three fields; and `curves`, those of one sweep's runs, of several sweeps or a
/// grid's settings the medians of each. Left out, or, asked for by name, a fault: `formation` and `phase`
/// where nothing can be copied, `phase` of other sweeps, and `curves` of more settings than there are
/// colours. What cannot be drawn holds up nothing else. Throws UsageError for names of no figure.
DrawnFigures draw_sweeps(std::span<const SweepFolder> sweeps, const std::filesystem::path& folder,
                         const FigureOptions& options = {});

}  // namespace tapehead
