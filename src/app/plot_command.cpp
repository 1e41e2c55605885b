#include <spdlog/spdlog.h>

#include <iostream>
#include <utility>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/report/figures.h"
#include "tapehead/train/run_directory.h"

namespace tapehead::app {

int plot_command(const Words& words) {
  Arguments arguments("plot", "Draws a run's figures, as PNG and SVG, into its folder figures/.", "RUN");
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  for (const auto& [table, command] :
       {std::pair(run.metrics_file(), "train"), std::pair(run.heads_file(), "train"),
        std::pair(run.table_file("ablation"), "ablate")})
    if (!std::filesystem::exists(table))
      spdlog::warn("{} is not there, and its figure is left out; tapehead {} makes it", table.string(),
                   command);
  for (const std::filesystem::path& figure : draw_figures(run)) std::cout << figure.string() << "\n";
  return 0;
}

}  // namespace tapehead::app
