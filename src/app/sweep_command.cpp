#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/interrupt.h"
#include "tapehead/app/sweep_output.h"
#include "tapehead/app/sweep_progress.h"
#include "tapehead/base/require.h"
#include "tapehead/study/joint_sweep.h"
#include "tapehead/train/config_reader.h"

namespace tapehead::app {

namespace {

namespace fs = std::filesystem;

constexpr Index kMostRuns = 100000;
constexpr Index kMostJobs = 1024;

constexpr const char* kEpilogue =
    "\n"
    "With --grid every seed is trained at every point of a grid, into DIR/heads=2_width=64/seed-1 and so "
    "on:\n"
    "  tapehead sweep configs/induction.toml --seeds 5 --grid model.heads=1,2,4 --grid model.width=32,64\n"
    "\n"
    "DIR/sweep.csv has a row a run. Every run is ablated, into its own ablation.csv.\n"
    "\n"
    "Several machines: under mpirun ranks take runs from one queue; as an array of jobs, each does its "
    "part:\n"
    "  sbatch --array=0-9 --wrap 'tapehead sweep CONFIG --index $SLURM_ARRAY_TASK_ID --of 10 --jobs 1'\n"
    "Jobs that died are simply started again.\n";

Arguments sweep_arguments() {
  Arguments arguments(
      "sweep",
      "Trains a config with seeds 1 to N (of weights, data and dropout), several runs at once on "
      "one thread each, into DIR/seed-1 and so on. Finished runs that are there are kept, stopped "
      "ones gone on with.",
      "CONFIG");
  const auto several = [] { return cxxopts::value<std::vector<std::string>>(); };
  arguments.options()("seeds", "how many seeds", cxxopts::value<std::string>()->default_value("20"), "N");
  arguments.options()("grid", "train with each of these values of a field; may be repeated", several(),
                      "table.key=value,value,...");
  arguments.options()("jobs", "how many runs at once (default: as many as there are cores)",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("index", "do only this part of the runs, from 0 to N - 1 of --of N",
                      cxxopts::value<std::string>(), "K");
  arguments.options()("of", "how many parts --index tells of", cxxopts::value<std::string>(), "N");
  arguments.options()("set", "another value for one field of the config; may be repeated", several(),
                      "table.key=value");
  arguments.options()("out", "the folder of the runs (default: runs/, the config's name, and -sweep)",
                      cxxopts::value<std::string>(), "DIR");
  arguments.epilogue(kEpilogue);
  return arguments;
}

Index number_at_most(const Arguments& arguments, const char* option, Index most) {
  const Index number = arguments.number(option, 1);
  if (number > most) throw UsageError(fmt::format("--{}: expected at most {}, got {}", option, most, number));
  return number;
}

fs::path folder_of(const Arguments& arguments) {
  if (!arguments.has("out"))
    return fs::path("runs") / (fs::path(arguments.positional()).stem().string() + "-sweep");
  if (arguments.text("out").empty()) throw UsageError("--out: expected a folder, got ''");
  return arguments.text("out");
}

void refuse_seeds(const char* option, const std::string& setting) {
  for (const char* field : {"train.initialisation_seed", "train.data_seed", "train.dropout_seed"})
    if (override_name(setting) == field)
      throw UsageError(fmt::format("--{} {}: a sweep sets this seed itself", option, setting));
}

std::vector<GridAxis> axes_of(const Arguments& arguments) {
  std::vector<GridAxis> axes;
  for (const std::string& text : arguments.texts("grid")) {
    refuse_seeds("grid", text);
    axes.push_back(read_axis(text));
    for (const std::string& setting : arguments.texts("set"))
      if (override_name(setting) == axes.back().field)
        throw UsageError(fmt::format("--set {}: --grid sweeps this field", setting));
  }
  return axes;
}

std::vector<Setting> settings_of(const Arguments& arguments, const fs::path& folder) {
  const std::vector<std::string> set = arguments.texts("set");
  for (const std::string& setting : set) refuse_seeds("set", setting);
  const Index seeds = number_at_most(arguments, "seeds", kMostRuns);
  const std::vector<GridPoint> points =
      grid_points(axes_of(arguments), static_cast<std::size_t>(kMostRuns / seeds));
  return grid_settings(points, seeds, folder, [&](std::span<const std::string> point) {
    std::vector<std::string> overrides = set;
    overrides.insert(overrides.end(), point.begin(), point.end());
    return read_config(arguments.positional(), overrides);
  });
}

/// The runs that this job is to do; all of them unless it is one of several.
std::vector<std::size_t> part_of(const Arguments& arguments, std::size_t runs) {
  if (!arguments.has("of") && !arguments.has("index")) return array_part(runs, 0, 1);
  if (!arguments.has("of") || !arguments.has("index"))
    throw UsageError("--index and --of go together, as in --index 0 --of 10");
  const Index of = number_at_most(arguments, "of", kMostRuns);
  const Index index = arguments.number("index", 0);
  if (index >= of)
    throw UsageError(fmt::format("--index: expected 0 to {} of {}, got {}", of - 1, of, index));
  return array_part(runs, index, of);
}

int jobs_of(const Arguments& arguments, const Ranks& ranks) {
  if (!arguments.has("jobs")) return ranks.threads_each();
  if (!ranks.alone())
    throw UsageError("--jobs does not go with mpirun: every rank trains one run at a time; start more ranks");
  return static_cast<int>(number_at_most(arguments, "jobs", kMostJobs));
}

std::vector<SweepResult> train(const std::vector<Setting>& settings, int jobs, Ranks& ranks) {
  std::vector<Index> last_steps;
  for (const Setting& setting : settings) last_steps.push_back(setting.config.train.steps);
  SweepProgress progress(std::move(last_steps));
  watch_for_interrupt();
  const SweepObserver observer{
      .reached = [&](std::size_t run, Index step) { progress.reached(run, step); },
      .ended =
          [&](std::size_t run, const SweepResult& result) {
            progress.ended(run, result.status == RunStatus::finished);
            if (result.status == RunStatus::failed)
              progress.warn(fmt::format("{} failed: {}", settings[run].path.string(), result.failure));
          },
      .should_stop = interrupt_wished};
  return ranks.alone() ? run_sweep(settings, jobs, observer) : run_joint_sweep(settings, ranks, observer);
}

/// What a rank other than 0 does.
int follow(const std::vector<Setting>& settings, Ranks& ranks) {
  watch_for_interrupt(true);
  run_joint_sweep(settings, ranks, {.should_stop = interrupt_wished});
  return interrupt_wished() ? 1 : 0;
}

void announce(const std::vector<Setting>& settings, const std::vector<Setting>& mine, int at_once,
              const fs::path& folder) {
  const Config& config = settings.front().config;
  const auto [fewest, most] =
      std::ranges::minmax(settings, {}, [](const Setting& setting) { return setting.config.train.steps; });
  const std::string part =
      mine.size() == settings.size() ? "" : fmt::format(", of which this job does {},", mine.size());
  const std::string steps = fewest.config.train.steps == most.config.train.steps
                                ? std::to_string(config.train.steps)
                                : fmt::format("{} to {}", fewest.config.train.steps, most.config.train.steps);
  spdlog::info("{} run{} of {} steps{} {} at once, into {}", settings.size(), settings.size() == 1 ? "" : "s",
               steps, part.empty() ? "," : part,
               std::min<std::size_t>(mine.size(), static_cast<std::size_t>(at_once)), folder.string());
  if (const std::string warning = make_task(config.task, config.model.vocabulary)->warning();
      !warning.empty())
    spdlog::warn(warning);
}

/// What this job has seen of its own runs, unless they are finished by now, and how those of others stand.
std::vector<SweepResult> results_by_now(const std::vector<Setting>& settings,
                                        const std::vector<std::size_t>& part,
                                        const std::vector<SweepResult>& trained) {
  std::vector<SweepResult> results(settings.size());
  for (std::size_t i = 0; i < part.size(); ++i) results[part[i]] = trained[i];
  for (std::size_t run = 0; run < settings.size(); ++run) {
    if (results[run].status == RunStatus::finished) continue;
    const bool is_mine = std::ranges::binary_search(part, run);
    if (SweepResult now = standing_result(settings[run]); !is_mine || now.status == RunStatus::finished)
      results[run] = std::move(now);
  }
  return results;
}

/// The sweep's folder, which is made where it is missing.
void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(fmt::format("[sweep] cannot make {}: {}", folder.string(), error.message()));
}

}  // namespace

int sweep_command(const Words& words) {
  Arguments arguments = sweep_arguments();
  if (!arguments.parse(words)) return 0;
  Ranks& ranks = Ranks::of_this_job();
  const fs::path folder = folder_of(arguments);
  const std::vector<Setting> settings = settings_of(arguments, folder);
  const std::vector<std::size_t> part = part_of(arguments, settings.size());
  const int jobs = jobs_of(arguments, ranks);
  std::vector<Setting> mine;
  for (const std::size_t run : part) mine.push_back(settings[run]);
  require_same_sweep(mine, ranks);
  if (!ranks.leads()) return follow(mine, ranks);

  announce(settings, mine, ranks.alone() ? jobs : ranks.count(), folder);
  make_folder(folder);
  const bool others_go_on = arguments.has("of");
  // Two programs would each write a table of what it saw; jobs of one sweep write it in turn, when they end.
  std::optional<FolderLock> lock;
  if (!others_go_on) lock.emplace(folder);
  const std::vector<SweepResult> trained = train(mine, jobs, ranks);
  if (others_go_on) lock.emplace(folder, FolderLock::IfTaken::wait);
  const std::vector<SweepResult> results = results_by_now(settings, part, trained);
  std::vector<SweepResult> of_mine;
  for (const std::size_t run : part) of_mine.push_back(results[run]);
  const int status = status_of_sweep(mine, of_mine);
  report_sweep(settings, results, folder, others_go_on);
  return status;
}

}  // namespace tapehead::app
