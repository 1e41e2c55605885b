#include "tapehead/report/sweep_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "tapehead/base/require.h"
#include "tapehead/report/drawable_table.h"
#include "tapehead/report/formation_dots_figure.h"
#include "tapehead/report/phase_figure.h"
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

/// The runs of one row or line: a sweep's, or those of one setting of its grid.
struct RunGroup {
  const SweepFolder* sweep;
  const SweepFolder::Group* group;
  std::string label;
};

std::vector<RunGroup> groups_of(std::span<const SweepFolder> sweeps) {
  const std::vector<std::string> labels = labels_of(sweeps);
  std::vector<RunGroup> groups;
  for (std::size_t i = 0; i < sweeps.size(); ++i)
    for (const SweepFolder::Group& group : sweeps[i].groups()) {
      std::string label = sweeps[i].axes().empty() ? labels[i] : in_words(group.point);
      if (!sweeps[i].axes().empty() && sweeps.size() > 1) label = labels[i] + ": " + label;
      groups.push_back({&sweeps[i], &group, std::move(label)});
    }
  return groups;
}

/// What the runs have in common, or in which fields they differ.
std::string words_of(std::span<const SweepFolder> sweeps) {
  if (sweeps.size() == 1 && !sweeps.front().axes().empty())
    return fmt::format("the settings differ in {}", fmt::join(sweeps.front().axes(), ", "));
  std::vector<Config> configs;
  for (const RunGroup& group : groups_of(sweeps))
    configs.push_back(group.sweep->runs({group.group->rows.front()}).front().config());
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

bool all_form(std::span<const SweepFolder> sweeps) {
  return std::ranges::all_of(sweeps, &SweepFolder::can_form);
}

/// Throws Error, saying why, for a figure that these sweeps have not.
void require_can_form(std::span<const SweepFolder> sweeps, std::string_view figure) {
  for (const SweepFolder& sweep : sweeps)
    require(sweep.can_form(), "[figures] {} has no data for the figure {}: in its task nothing is copied",
            sweep.path().string(), figure);
}

Figure formation_of_sweeps(std::span<const SweepFolder> sweeps, const FigureSize& size) {
  require_can_form(sweeps, "formation");
  std::vector<StepGroup> groups;
  for (const RunGroup& group : groups_of(sweeps))
    groups.push_back({group.label, group.sweep->halves(group.group->rows)});
  return formation_dots_figure(groups, {words_of(sweeps), remarks_on(sweeps)}, size);
}

bool has_phase(std::span<const SweepFolder> sweeps) {
  return sweeps.size() == 1 && has_phase_figure(sweeps.front().axes().size());
}

Figure phase_of_sweep(std::span<const SweepFolder> sweeps, const FigureSize& size) {
  require_can_form(sweeps, "phase");
  require(has_phase(sweeps), "[figures] the figure phase is of one sweep whose grid has two or three fields");
  std::vector<PhaseCell> cells;
  for (const SweepFolder::Group& group : sweeps.front().groups())
    cells.push_back({group.point, sweeps.front().halves(group.rows)});
  return phase_figure(cells, {words_of(sweeps), remarks_on(sweeps)}, size);
}

bool has_curves(std::span<const SweepFolder> sweeps) {
  return sweeps.size() > 1 || sweeps.front().groups().size() <= kMostCurveSweeps;
}

std::vector<fs::path> draw_curves_of(std::span<const SweepFolder> sweeps, const fs::path& folder,
                                     const FigureOptions& options) {
  const std::vector<RunGroup> groups = groups_of(sweeps);
  if (groups.size() == 1)
    return draw_curves(sweeps.front().runs(), folder, {.size = options.size, .formats = options.formats});
  require(has_curves(sweeps),
          "[figures] {} settings are too many for the figure curves, which has colours for {}", groups.size(),
          kMostCurveSweeps);
  std::vector<RunsOfSweep> all;
  for (const RunGroup& group : groups) {
    all.push_back({group.label, {}});
    for (const RunDirectory& run : group.sweep->runs(group.group->rows))
      all.back().metrics.push_back(drawable_metrics(run));
  }
  const std::string_view of = all.size() == sweeps.size() ? "sweeps" : "settings";
  return draw(sweep_curves_figure(all, words_of(sweeps), options.size, of), folder, options.formats);
}

/// Whether these sweeps have that figure, so that it is drawn without being asked for.
bool has_figure(std::string_view name, std::span<const SweepFolder> sweeps) {
  if (name == "curves") return has_curves(sweeps);
  return all_form(sweeps) && (name == "formation" || has_phase(sweeps));
}

std::vector<fs::path> draw_one(std::string_view name, std::span<const SweepFolder> sweeps,
                               const fs::path& folder, const FigureOptions& options) {
  if (name == "curves") return draw_curves_of(sweeps, folder, options);
  return draw(
      name == "phase" ? phase_of_sweep(sweeps, options.size) : formation_of_sweeps(sweeps, options.size),
      folder, options.formats);
}

}  // namespace

DrawnFigures draw_sweeps(std::span<const SweepFolder> sweeps, const fs::path& folder,
                         const FigureOptions& options) {
  require_figure_names(options.only, kFiguresOfSweeps, "sweeps");
  require(!sweeps.empty(), "[figures] expected at least one sweep");
  DrawnFigures drawn;
  for (const std::string_view name : kFiguresOfSweeps) {
    const bool is_named = std::ranges::find(options.only, name) != options.only.end();
    if (!is_named && (!options.only.empty() || !has_figure(name, sweeps))) continue;
    try {
      for (fs::path& file : draw_one(name, sweeps, folder, options)) drawn.files.push_back(std::move(file));
    } catch (const Error& error) {
      if (std::ranges::find(drawn.faults, error.what()) == drawn.faults.end())
        drawn.faults.emplace_back(error.what());
    }
  }
  return drawn;
}

}  // namespace tapehead
