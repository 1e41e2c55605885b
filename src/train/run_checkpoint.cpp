#include "tapehead/train/run_checkpoint.h"

#include "tapehead/base/require.h"
#include "tapehead/train/config_fields.h"

namespace tapehead {

Checkpoint run_checkpoint(const RunDirectory& run, Index step) {
  const std::filesystem::path file = run.checkpoint_file(step);
  Checkpoint checkpoint = load_checkpoint(file);
  require(checkpoint.step == step, "[checkpoint] {} is of step {}", file.string(), checkpoint.step);
  for (const FieldDifference& field : differences(run.config(), checkpoint.config))
    throw UsageError(fmt::format(
        "[checkpoint] {} and {} disagree: {} is {} in the one and {} in the other; put back what "
        "was there, or start another run",
        (run.path() / "config.toml").string(), file.string(), field.name, field.first, field.second));
  return checkpoint;
}

Checkpoint latest_run_checkpoint(const RunDirectory& run) { return run_checkpoint(run, run.latest_step()); }

}  // namespace tapehead
