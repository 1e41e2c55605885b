/// One config under many settings, each a run directory of its own, several trained at once.
///
/// A run of a sweep has the same bits as one that is trained alone. What is there already counts: a finished
/// run is left as it is, a stopped one is gone on with, so a sweep that was stopped, or died, is begun again
/// by the same call. Each run is complete in itself, and several programs may share out one sweep's runs.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/study/grid.h"
#include "tapehead/study/scored_run.h"

namespace tapehead {

/// A run as it shall be.
struct Setting {
  std::filesystem::path path;
  Config config;
  GridPoint point = {};  ///< of the grid that it belongs to
};

/// Seeds 1, ..., `seeds`: seed k is folder/seed-k, with k as seed of weights, data and dropout; evaluation
/// stays the same. Throws UsageError for less than one.
std::vector<Setting> seed_settings(const Config& config, Index seeds, const std::filesystem::path& folder);

/// All seeds of every point, one point after another, each in a folder of its own (see folder_name).
/// `config_of` gives the config under some overrides. Throws UsageError as it does and as seed_settings, and
/// for points that would share a folder.
using ConfigOf = std::function<Config(std::span<const std::string> overrides)>;
std::vector<Setting> grid_settings(std::span<const GridPoint> points, Index seeds,
                                   const std::filesystem::path& folder, const ConfigOf& config_of);

/// Throws UsageError, naming the first field that differs and the way out, if the run that is at that place
/// already is of another config; a place without a run is in order.
void require_same_run(const Setting& setting, std::string_view way_out = "choose another folder with --out");

/// Whether the place holds this run with its last step done. Throws as require_same_run, and Error for a last
/// checkpoint that cannot be read or whose tables are gone.
bool is_finished(const Setting& setting);

/// Trains this setting into its place, or goes on with what is there, or sees that it is finished, and
/// returns whether it is. Throws as is_finished, RunDirectory, resume_scored_run and train_scored_run do.
/// `started` is called, unless it is finished, with the trainer that goes on.
bool complete_run(const Setting& setting, int threads, const RunObserver& observer = {},
                  const std::function<void(const Trainer&)>& started = {});

/// Every `of`-th run from `index` on: what one of so many jobs of an array does. Throws Error unless index is
/// one of 0, ..., of - 1.
std::vector<std::size_t> array_part(std::size_t runs, Index index, Index of);

enum class RunStatus { finished, failed, stopped };
/// "finished", "failed", "stopped"
std::string_view name_of(RunStatus status);

struct SweepResult {
  RunStatus status = RunStatus::stopped;
  std::string failure = {};  ///< in words
};

/// Completes a run on one thread, ablates its heads, and says how that ended: what goes wrong is a result
/// too, but for our own mistakes.
SweepResult complete_setting(const Setting& setting, const RunObserver& observer,
                             const std::function<void(const Trainer&)>& started);

/// How a run stands that somebody else may be training: finished, or stopped for the time being.
SweepResult standing_result(const Setting& setting);

/// Who follows a sweep, from any of its threads. Every member may be left empty.
struct SweepObserver {
  /// A run's step, when it begins (or goes on) there and after each update.
  std::function<void(std::size_t run, Index step)> reached = {};
  std::function<void(std::size_t run, const SweepResult& result)> ended = {};
  /// Asked after every update and before every run: whether to save and return early.
  std::function<bool()> should_stop = {};
};

/// Completes every run and ablates it, `jobs` of them at once on one thread each. A run that fails does not
/// stop the others. Throws UsageError, before anything is trained, as require_same_run does.
std::vector<SweepResult> run_sweep(const std::vector<Setting>& settings, int jobs,
                                   const SweepObserver& observer = {});

}  // namespace tapehead
