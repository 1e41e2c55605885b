#include "tapehead/study/twin.h"

#include "tapehead/base/require.h"
#include "tapehead/study/scored_run.h"

namespace tapehead {

namespace {

/// The twin's folder, held for writing: as it was left, if it is of this config, else begun anew.
RunDirectory held_twin(const std::filesystem::path& folder, const Config& config) {
  if (std::filesystem::exists(folder / "config.toml")) {
    RunDirectory twin = RunDirectory::open_for_writing(folder);
    if (twin.config() == config) return twin;
  }
  return RunDirectory::create(folder, config, true);
}

bool is_finished(const RunDirectory& run) {
  const std::vector<Index> steps = run.checkpoint_steps();
  return !steps.empty() && steps.back() == run.config().train.steps;
}

}  // namespace

Config one_layer_twin(const Config& config) {
  if (config.model.initialisation == Initialisation::imported)
    throw UsageError("[twin] the model was imported, and how it was trained is not known: no twin of it");
  if (config.model.layers <= 1)
    throw UsageError(fmt::format("[twin] the model has {} layer{} itself: no twin with fewer",
                                 config.model.layers, config.model.layers == 1 ? "" : "s"));
  Config twin = config;
  twin.model.layers = 1;
  twin.interventions.clear();
  return twin;
}

std::filesystem::path twin_folder(const RunDirectory& run) { return run.path() / kTwinFolder; }

std::optional<Checkpoint> trained_twin(const RunDirectory& run, int threads, const RunObserver& observer) {
  const Config config = one_layer_twin(run.config());
  const std::filesystem::path folder = twin_folder(run);
  if (std::filesystem::exists(folder / "config.toml")) {
    const RunDirectory there = RunDirectory::open(folder);
    if (there.config() == config && is_finished(there)) return load_checkpoint(there.latest_checkpoint());
  }
  const RunDirectory twin = held_twin(folder, config);
  Trainer trainer = resume_scored_run(twin, threads);
  if (!train_scored_run(trainer, twin, observer)) return std::nullopt;
  return load_checkpoint(twin.latest_checkpoint());
}

}  // namespace tapehead
