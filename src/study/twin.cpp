#include "tapehead/study/twin.h"

#include "tapehead/base/require.h"
#include "tapehead/study/sweep.h"
#include "tapehead/train/run_checkpoint.h"

namespace tapehead {

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
  const Setting twin{twin_folder(run), one_layer_twin(run.config())};
  require_same_run(twin, "it is not this run's twin: move it away, and the twin is trained");
  if (!complete_run(twin, threads, observer)) return std::nullopt;
  return latest_run_checkpoint(RunDirectory::open(twin.path));
}

}  // namespace tapehead
