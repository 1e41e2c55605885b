/// All figures of a run, from what its folder holds.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/report/style.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// A figure of one run: its name, that of its files, and which command makes what it shows.
struct FigureOfRun {
  std::string_view name;
  std::string_view command;
};
inline constexpr std::array<FigureOfRun, 11> kFiguresOfRun{{
    {"loss", "train CONFIG"},
    {"heads", "train CONFIG"},
    {"attention", "train CONFIG"},
    {"ablation", "ablate RUN"},
    {"shapley", "ablate RUN --subsets"},
    {"patching", "patch RUN"},
    {"composition", "circuits RUN"},
    {"eigenvalues", "circuits RUN"},
    {"attribution", "circuits RUN"},
    {"lens", "lens RUN"},
    {"context", "context RUN"},
}};
/// The figure of several runs.
inline constexpr std::string_view kFigureOfRuns = "curves";

struct FigureOptions {
  std::vector<std::string> only = {};  ///< names of figures; none: all that have data
  FigureSize size = kPageSize;
  std::vector<FigureFormat> formats = kUsualFormats;
};

/// Throws UsageError, with the nearest and all that there are, for names that no figure of one run, or of
/// several, has.
void require_figure_names(const std::vector<std::string>& names, std::size_t runs);
/// The same for names that none of `known` is: figures of what `of` says.
void require_figure_names(const std::vector<std::string>& names, std::span<const std::string_view> known,
                          std::string_view of);

struct DrawnFigures {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> faults;  ///< of figures that cannot be drawn, each said once
};

/// Draws into the run's figures folder: `loss` and `heads` from the tables of those names, `attention` from
/// the newest checkpoint, and one for each further table that has a figure of its name. What has no data yet
/// is left out, unless it is asked for by name, which is a fault that says which command makes them. What
/// cannot be drawn holds up nothing else. Throws UsageError for names of no figure.
DrawnFigures draw_figures(const RunDirectory& run, const FigureOptions& options = {});

/// Draws `curves` of several runs into a folder, from their metrics, and returns the files. Throws Error
/// where these cannot be read, and as draw does; UsageError for another name.
std::vector<std::filesystem::path> draw_curves(std::span<const RunDirectory> runs,
                                               const std::filesystem::path& folder,
                                               const FigureOptions& options = {});

}  // namespace tapehead
