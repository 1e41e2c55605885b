#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/formation_text.h"
#include "tapehead/app/interrupt.h"
#include "tapehead/app/sweep_progress.h"
#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/report/figures.h"
#include "tapehead/study/sweep_table.h"
#include "tapehead/train/config_reader.h"

namespace tapehead::app {

namespace {

namespace fs = std::filesystem;

constexpr Index kMostSeeds = 100000;
constexpr Index kMostJobs = 1024;

Arguments sweep_arguments() {
  Arguments arguments(
      "sweep",
      "Trains a config with seeds 1 to N (of weights, data and dropout), several runs at once on "
      "one thread each, into DIR/seed-1 and so on. Finished runs that are there are kept, stopped "
      "ones gone on with.",
      "CONFIG");
  arguments.options()("seeds", "how many seeds", cxxopts::value<std::string>()->default_value("20"), "N");
  arguments.options()("jobs", "how many runs at once (default: as many as there are cores)",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("set", "another value for one field of the config; may be repeated",
                      cxxopts::value<std::vector<std::string>>(), "table.key=value");
  arguments.options()("out", "the folder of the runs (default: runs/, the config's name, and -sweep)",
                      cxxopts::value<std::string>(), "DIR");
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

Config config_of(const Arguments& arguments) {
  for (const std::string& setting : arguments.texts("set"))
    for (const char* field : {"train.initialisation_seed", "train.data_seed", "train.dropout_seed"})
      if (override_name(setting) == field)
        throw UsageError(fmt::format("--set {}: a sweep sets this seed itself", setting));
  return read_config(arguments.positional(), arguments.texts("set"));
}

std::vector<SweepResult> train(const std::vector<Setting>& settings, int jobs) {
  SweepProgress progress(settings.size(), settings.front().config.train.steps);
  watch_for_interrupt();
  return run_sweep(
      settings, jobs,
      {.reached = [&](std::size_t run, Index step) { progress.reached(run, step); },
       .ended =
           [&](std::size_t run, const SweepResult& result) {
             progress.ended(run, result.status == RunStatus::finished);
             if (result.status == RunStatus::failed)
               progress.warn(fmt::format("{} failed: {}", settings[run].path.string(), result.failure));
           },
       .should_stop = interrupt_wished});
}

/// The table, the figure, and the quartiles over the runs that are finished.
void report(const std::vector<Setting>& settings, const std::vector<SweepResult>& results,
            const fs::path& folder) {
  const std::vector<std::optional<FormationReport>> reports = sweep_reports(settings);
  const fs::path table = folder / "sweep.csv";
  sweep_table(settings, results, reports).write(table);
  std::vector<FormationReport> finished;
  std::vector<RunDirectory> runs;
  for (std::size_t run = 0; run < settings.size(); ++run) {
    if (results[run].status != RunStatus::finished || !reports[run]) continue;
    finished.push_back(*reports[run]);
    runs.push_back(RunDirectory::open(settings[run].path));
  }
  if (finished.empty()) return;
  if (task_kind(settings.front().config.task.name).repeats) std::cout << quartiles_text(finished) << "\n";
  std::cout << table.string() << "\n";
  for (const fs::path& figure : draw_curves(runs, folder / "figures")) std::cout << figure.string() << "\n";
}

/// The exit status, once what is amiss is said.
int status_of(const std::vector<Setting>& settings, const std::vector<SweepResult>& results) {
  const auto count = [&](RunStatus status) {
    return std::ranges::count(results, status, [](const SweepResult& result) { return result.status; });
  };
  for (std::size_t run = 0; run < results.size(); ++run)
    if (results[run].status == RunStatus::failed)
      spdlog::error("{}: {}", settings[run].path.string(), results[run].failure);
  if (const auto failed = count(RunStatus::failed); failed > 0)
    spdlog::error("{} of {} runs failed", failed, results.size());
  if (const auto stopped = count(RunStatus::stopped); stopped > 0)
    spdlog::warn(
        "stopped with {} of {} runs done, the others saved where they stood; the same command goes on",
        count(RunStatus::finished), results.size());
  return count(RunStatus::finished) == static_cast<std::ptrdiff_t>(results.size()) ? 0 : 1;
}

/// The sweep's folder, made and locked: two programs would each write a table of what it saw.
FolderLock held(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(fmt::format("[sweep] cannot make {}: {}", folder.string(), error.message()));
  return FolderLock(folder);
}

}  // namespace

int sweep_command(const Words& words) {
  Arguments arguments = sweep_arguments();
  if (!arguments.parse(words)) return 0;
  const fs::path folder = folder_of(arguments);
  const Config config = config_of(arguments);
  const std::vector<Setting> settings =
      seed_settings(config, number_at_most(arguments, "seeds", kMostSeeds), folder);
  const int jobs = arguments.has("jobs") ? static_cast<int>(number_at_most(arguments, "jobs", kMostJobs))
                                         : hardware_threads();
  spdlog::info("{} run{} of {} steps, {} at once, into {}", settings.size(), settings.size() == 1 ? "" : "s",
               config.train.steps, std::min<std::size_t>(settings.size(), static_cast<std::size_t>(jobs)),
               folder.string());
  if (const std::string warning = make_task(config.task, config.model.vocabulary)->warning();
      !warning.empty())
    spdlog::warn(warning);
  const FolderLock lock = held(folder);
  const std::vector<SweepResult> results = train(settings, jobs);
  const int status = status_of(settings, results);
  report(settings, results, folder);
  return status;
}

}  // namespace tapehead::app
