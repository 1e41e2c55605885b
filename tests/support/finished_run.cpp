#include "support/finished_run.h"

#include "tapehead/base/require.h"
#include "tapehead/study/scored_run.h"

namespace tapehead::testing {

RunDirectory finished_run(const Folder& folder, const Config& config) {
  RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  require(train_scored_run(trainer, run), "[test] the run stopped early");
  return run;
}

}  // namespace tapehead::testing
