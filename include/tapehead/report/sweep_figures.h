/// The figures of sweeps, side by side.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include "tapehead/report/figures.h"
#include "tapehead/study/sweep_folder.h"

namespace tapehead {

inline constexpr std::array<std::string_view, 2> kFiguresOfSweeps{"formation", "curves"};

/// Draws `formation`, a row a sweep, and `curves`, into a folder. Curves of one sweep are those of its runs,
/// of several the medians of each. Where some sweep has a task in which nothing is copied, `formation` is
/// left out, or, asked for by name, a fault. What cannot be drawn holds up nothing else. Throws UsageError
/// for names of no figure.
DrawnFigures draw_sweeps(std::span<const SweepFolder> sweeps, const std::filesystem::path& folder,
                         const FigureOptions& options = {});

}  // namespace tapehead
