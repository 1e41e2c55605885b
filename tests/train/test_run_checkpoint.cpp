#include "tapehead/train/run_checkpoint.h"

#include "support/folder.h"
#include "support/testing.h"
#include "support/training.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

void save(const RunDirectory& run, const Config& config, Index step, Index as) {
  const Trainer trainer(config, 1);
  save_checkpoint(run.checkpoint_file(as), config, trainer.model(), trainer.optimizer(), step);
}

}  // namespace

TEST_CASE("a run's checkpoint is of the step and of the config that the run says") {
  const Folder folder;
  Config config = tiny_config();
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  CHECK_THROWS_WITH_AS(latest_run_checkpoint(run), doctest::Contains("has no checkpoint yet"), Error);
  save(run, config, 0, 0);
  save(run, config, 5, 5);
  CHECK(run_checkpoint(run, 0).step == 0);
  CHECK(latest_run_checkpoint(run).step == 5);

  save(run, config, 5, 7);
  CHECK_THROWS_WITH_AS(run_checkpoint(run, 7), doctest::Contains("is of step 5"), Error);
  config.train.data_seed = 9;
  save(run, config, 8, 8);
  CHECK_THROWS_WITH_AS(latest_run_checkpoint(run),
                       doctest::Contains("disagree: train.data_seed is 1 in the one and 9 in the other"),
                       UsageError);
  CHECK_THROWS_AS(run_checkpoint(run, 9), Error);
}
