#include "tapehead/study/sweep.h"

#include <new>
#include <set>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/study/ablated_run.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/config_fields.h"

namespace tapehead {

namespace {

/// What went wrong, where the library's own words are not enough.
std::string in_words(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "not enough memory";
  return error.what();
}

/// What `finishes` comes to; our own mistakes are not a run's failure.
template <class Finishes>
SweepResult result_of(const Finishes& finishes) {
  try {
    return {.status = finishes() ? RunStatus::finished : RunStatus::stopped};
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& error) {
    return {.status = RunStatus::failed, .failure = in_words(error)};
  }
}

}  // namespace

std::vector<Setting> seed_settings(const Config& config, Index seeds, const std::filesystem::path& folder) {
  if (seeds < 1) throw UsageError(fmt::format("[sweep] expected at least one seed, got {}", seeds));
  std::vector<Setting> settings;
  for (Index seed = 1; seed <= seeds; ++seed) {
    Setting setting{folder / fmt::format("seed-{}", seed), config};
    TrainConfig& train = setting.config.train;
    train.initialisation_seed = train.data_seed = train.dropout_seed = static_cast<std::uint64_t>(seed);
    settings.push_back(std::move(setting));
  }
  return settings;
}

namespace {

Config config_at(const GridPoint& point, const ConfigOf& config_of) {
  std::vector<std::string> overrides;
  for (const GridValue& value : point) overrides.push_back(value.text());
  try {
    return config_of(overrides);
  } catch (const UsageError& error) {
    if (point.empty()) throw;
    throw UsageError(fmt::format("at {} of the grid: {}", in_words(point), error.what()));
  }
}

}  // namespace

std::vector<Setting> grid_settings(std::span<const GridPoint> points, Index seeds,
                                   const std::filesystem::path& folder, const ConfigOf& config_of) {
  std::vector<Setting> settings;
  std::set<std::string> names;
  for (const GridPoint& point : points) {
    const std::string name = folder_name(point);
    if (!names.insert(name).second)
      throw UsageError(fmt::format("--grid: two settings would have the same folder {}", name));
    for (Setting& setting : seed_settings(config_at(point, config_of), seeds, folder / name)) {
      setting.point = point;
      settings.push_back(std::move(setting));
    }
  }
  return settings;
}

void require_same_run(const Setting& setting, std::string_view way_out) {
  if (!RunDirectory::stands_at(setting.path)) return;
  const Config there = RunDirectory::open(setting.path).config();
  if (there == setting.config) return;
  const FieldDifference field = differences(there, setting.config).front();
  throw UsageError(fmt::format("[sweep] {} holds a run that differs in {}, which is {} there and {} here; {}",
                               setting.path.string(), field.name, field.first, field.second, way_out));
}

bool is_finished(const Setting& setting) {
  require_same_run(setting);
  if (!RunDirectory::stands_at(setting.path)) return false;
  const RunDirectory run = RunDirectory::open(setting.path);
  const std::vector<Index> steps = run.checkpoint_steps();
  if (steps.empty() || steps.back() < setting.config.train.steps) return false;
  const Checkpoint last = load_checkpoint(run.latest_checkpoint());
  require(last.config == setting.config && last.step == steps.back(),
          "[sweep] {} is not a checkpoint of its run; move it away, and the run goes on from the one before",
          run.latest_checkpoint().string());
  for (const auto& table : {run.metrics_file(), run.heads_file()})
    require(std::filesystem::exists(table), "[sweep] {} has its last checkpoint, but {} is missing",
            setting.path.string(), table.filename().string());
  return true;
}

bool complete_run(const Setting& setting, int threads, const RunObserver& observer,
                  const std::function<void(const Trainer&)>& started) {
  if (is_finished(setting)) return true;
  const bool there = RunDirectory::stands_at(setting.path);
  const RunDirectory run = there ? RunDirectory::open_for_writing(setting.path)
                                 : RunDirectory::create(setting.path, setting.config, false);
  // Another program may have done it before the lock was ours.
  if (there && is_finished(setting)) return true;
  Trainer trainer = resume_scored_run(run, threads);
  if (started) started(trainer);
  return train_scored_run(trainer, run, observer);
}

std::string_view name_of(RunStatus status) {
  switch (status) {
    case RunStatus::finished:
      return "finished";
    case RunStatus::failed:
      return "failed";
    case RunStatus::stopped:
      return "stopped";
  }
  return "";
}

std::vector<std::size_t> array_part(std::size_t runs, Index index, Index of) {
  require(of >= 1 && index >= 0 && index < of, "[sweep] expected a job from 0 to {}, got {}", of - 1, index);
  std::vector<std::size_t> part;
  for (auto run = static_cast<std::size_t>(index); run < runs; run += static_cast<std::size_t>(of))
    part.push_back(run);
  return part;
}

SweepResult complete_setting(const Setting& setting, const RunObserver& observer,
                             const std::function<void(const Trainer&)>& started) {
  return result_of([&] {
    if (!complete_run(setting, 1, observer, started)) return false;
    ablate_run(RunDirectory::open(setting.path), 1);
    return true;
  });
}

SweepResult standing_result(const Setting& setting) {
  return result_of([&] { return is_finished(setting); });
}

std::vector<SweepResult> run_sweep(const std::vector<Setting>& settings, int jobs,
                                   const SweepObserver& observer) {
  for (const Setting& setting : settings) require_same_run(setting);
  std::vector<SweepResult> results(settings.size());
  const auto should_stop = [&] { return observer.should_stop && observer.should_stop(); };
  parallel_for(static_cast<Index>(settings.size()), jobs, [&](Index index) {
    if (should_stop()) return;
    const auto run = static_cast<std::size_t>(index);
    const auto reached = [&](const Trainer& trainer) {
      if (observer.reached) observer.reached(run, trainer.step());
    };
    const RunObserver of_run{
        .stepped = [&](const Trainer& trainer, const Trainer::StepReport&) { reached(trainer); },
        .should_stop = should_stop};
    results[run] = complete_setting(settings[run], of_run, reached);
    if (observer.ended) observer.ended(run, results[run]);
  });
  return results;
}

}  // namespace tapehead
