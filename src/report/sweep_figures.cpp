#include "tapehead/report/sweep_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "tapehead/base/require.h"
#include "tapehead/report/drawable_table.h"
#include "tapehead/report/formation_dots_figure.h"
#include "tapehead/report/sweep_curves_figure.h"
#include "tapehead/study/formation_report.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

/// The folders' names, or their paths where two have the same name.
std::vector<std::string> labels_of(std::span<const SweepFolder> sweeps) {
  std::vector<std::string> labels;
  for (const SweepFolder& sweep : sweeps) {
    const bool is_alone = std::ranges::count(sweeps, sweep.name(), &SweepFolder::name) == 1;
    labels.push_back(is_alone ? sweep.name() : sweep.path().lexically_normal().string());
  }
  return labels;
}

/// What the sweeps have in common, or in which fields they differ.
std::string in_words(std::span<const SweepFolder> sweeps) {
  std::vector<Config> configs;
  for (const SweepFolder& sweep : sweeps) configs.push_back(sweep.runs().front().config());
  const std::vector<std::string> differing = differing_fields_but_seeds(configs);
  if (differing.empty()) return runs_in_words(configs.front());
  return fmt::format("the sweeps differ in {}", fmt::join(differing, ", "));
}

std::vector<ColouredWords> remarks_on(std::span<const SweepFolder> sweeps) {
  Index unfinished = 0;
  for (const SweepFolder& sweep : sweeps) unfinished += sweep.unfinished();
  if (unfinished == 0) return {};
  return {
      {fmt::format("{} run{} not finished, and left out", unfinished, unfinished == 1 ? " is" : "s are")}};
}

Figure formation_of_sweeps(std::span<const SweepFolder> sweeps, const FigureSize& size) {
  std::vector<StepGroup> groups;
  const std::vector<std::string> labels = labels_of(sweeps);
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    require(sweeps[i].can_form(),
            "[figures] {} has no data for the figure formation: in its task nothing is copied",
            sweeps[i].path().string());
    groups.push_back({labels[i], sweeps[i].halves()});
  }
  return formation_dots_figure(groups, {in_words(sweeps), remarks_on(sweeps)}, size);
}

std::vector<fs::path> draw_curves_of(std::span<const SweepFolder> sweeps, const fs::path& folder,
                                     const FigureOptions& options) {
  if (sweeps.size() == 1)
    return draw_curves(sweeps.front().runs(), folder, {.size = options.size, .formats = options.formats});
  std::vector<RunsOfSweep> all;
  for (const std::string& label : labels_of(sweeps)) {
    all.push_back({label, {}});
    for (const RunDirectory& run : sweeps[all.size() - 1].runs())
      all.back().metrics.push_back(drawable_metrics(run));
  }
  return draw(sweep_curves_figure(all, in_words(sweeps), options.size), folder, options.formats);
}

}  // namespace

DrawnFigures draw_sweeps(std::span<const SweepFolder> sweeps, const fs::path& folder,
                         const FigureOptions& options) {
  require_figure_names(options.only, kFiguresOfSweeps, "sweeps");
  require(!sweeps.empty(), "[figures] expected at least one sweep");
  const bool all_form = std::ranges::all_of(sweeps, &SweepFolder::can_form);
  DrawnFigures drawn;
  for (const std::string_view name : kFiguresOfSweeps) {
    const bool is_named = std::ranges::find(options.only, name) != options.only.end();
    if (!is_named && (!options.only.empty() || (name == "formation" && !all_form))) continue;
    try {
      for (fs::path& file : name == "formation"
                                ? draw(formation_of_sweeps(sweeps, options.size), folder, options.formats)
                                : draw_curves_of(sweeps, folder, options))
        drawn.files.push_back(std::move(file));
    } catch (const Error& error) {
      if (std::ranges::find(drawn.faults, error.what()) == drawn.faults.end())
        drawn.faults.emplace_back(error.what());
    }
  }
  return drawn;
}

}  // namespace tapehead
