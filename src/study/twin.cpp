#include "tapehead/study/twin.h"

#include "tapehead/base/require.h"
#include "tapehead/study/sweep.h"
#include "tapehead/train/config_fields.h"
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

namespace {

/// Throws UsageError if some other run is at the twin's place.
void require_own_twin(const Setting& twin) {
  if (!RunDirectory::stands_at(twin.path)) return;
  const Config there = RunDirectory::open(twin.path).config();
  if (there == twin.config) return;
  const FieldDifference field = differences(there, twin.config).front();
  throw UsageError(
      fmt::format("[twin] {} is not the twin of this run: {} is {} there and {} in the twin; move "
                  "it away, and the twin is trained",
                  twin.path.string(), field.name, field.first, field.second));
}

}  // namespace

std::optional<Checkpoint> trained_twin(const RunDirectory& run, int threads, const RunObserver& observer) {
  const Setting twin{twin_folder(run), one_layer_twin(run.config())};
  require_own_twin(twin);
  if (!complete_run(twin, threads, observer)) return std::nullopt;
  return latest_run_checkpoint(RunDirectory::open(twin.path));
}

}  // namespace tapehead
