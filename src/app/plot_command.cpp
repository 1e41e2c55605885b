#include <spdlog/spdlog.h>

#include <iostream>
#include <utility>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/base/require.h"
#include "tapehead/report/figures.h"
#include "tapehead/train/run_directory.h"

namespace tapehead::app {

namespace {

namespace fs = std::filesystem;

DrawnFigures plot_run(const RunDirectory& run) {
  for (const auto& [table, command] :
       {std::pair(run.metrics_file(), "train"), std::pair(run.heads_file(), "train"),
        std::pair(run.table_file("ablation"), "ablate")})
    if (!fs::exists(table))
      spdlog::warn("{} is not there, and its figure is left out; tapehead {} makes it", table.string(),
                   command);
  return draw_figures(run);
}

/// The innermost folder that all the runs are in.
fs::path folder_of(const std::vector<RunDirectory>& runs) {
  const auto parent = [](const RunDirectory& run) {
    return (run.path() / "").lexically_normal().parent_path().parent_path();
  };
  fs::path common = parent(runs.front());
  for (const RunDirectory& run : runs) {
    fs::path shared;
    const fs::path other = parent(run);
    for (auto a = common.begin(), b = other.begin(); a != common.end() && b != other.end() && *a == *b;
         ++a, ++b)
      shared /= *a;
    common = shared;
  }
  return common;
}

}  // namespace

int plot_command(const Words& words) {
  Arguments arguments(
      "plot",
      "Draws a run's figures, as PNG and SVG, into its folder figures/; of several runs, their "
      "curves in one figure.",
      "RUN...");
  arguments.options()(
      "out", "where the figure of several runs goes (default: figures/ in the folder that they are in)",
      cxxopts::value<std::string>(), "DIR");
  if (!arguments.parse(words)) return 0;
  std::vector<RunDirectory> runs;
  for (const std::string& path : arguments.positionals()) runs.push_back(RunDirectory::open(path));
  if (runs.size() == 1 && arguments.has("out"))
    throw UsageError("--out goes with several runs; one run's figures are drawn into the run");
  DrawnFigures drawn;
  if (runs.size() == 1)
    drawn = plot_run(runs.front());
  else
    drawn.files = draw_curves(
        runs, arguments.has("out") ? fs::path(arguments.text("out")) : folder_of(runs) / "figures");
  for (const fs::path& figure : drawn.files) std::cout << figure.string() << "\n";
  for (const std::string& fault : drawn.faults) spdlog::error("{}", fault);
  return drawn.faults.empty() ? 0 : 1;
}

}  // namespace tapehead::app
