#include "tapehead/study/replay.h"

#include "support/finished_run.h"
#include "support/folder.h"
#include "tapehead/base/require.h"
#include "tapehead/study/scored_run.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Indices = std::vector<Index>;

}  // namespace

TEST_CASE("a replay comes by every checkpoint and finds it the same to the bit, on any number of threads") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  const Replay once = replay(run, folder / "again", {.threads = 2});
  CHECK(once.is_whole);
  CHECK(once.compared == Indices{0, 5, 10});
  CHECK(once.different.empty());
  CHECK(text_of(folder / "again" / "heads.csv") == text_of(run.heads_file()));
}

TEST_CASE("a checkpoint of another training is found, and so is all that a changed start leads to") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  Config other = tiny_config();
  other.train.data_seed = 9;
  Trainer trainer(other, 1);
  while (trainer.step() < 5) trainer.advance();
  save_checkpoint(run.checkpoint_file(5), tiny_config(), trainer.model(), trainer.optimizer(), 5);
  const Replay replayed = replay(run, folder / "again", {});
  REQUIRE(replayed.different.size() == 1);
  CHECK(replayed.different[0].step == 5);
  CHECK(replayed.different[0].what == "other parameters, averages or config");
}

TEST_CASE("a run without its first checkpoints is replayed from the first that it has, with its rows") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  std::filesystem::remove(run.checkpoint_file(0));
  const Replay later = replay(run, folder / "again", {});
  CHECK(later.compared == Indices{5, 10});
  CHECK(later.different.empty());
  CHECK(text_of(folder / "again" / "heads.csv") == text_of(run.heads_file()));
}

TEST_CASE("a replay of a run that was stopped ends where the run stands, and one that is given up says so") {
  const Folder folder;
  const Config config = tiny_config();
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  CHECK_FALSE(train_scored_run(trainer, run, {.should_stop = [&] { return trainer.step() == 7; }}));
  const Replay whole = replay(run, folder / "again", {});
  CHECK(whole.is_whole);
  CHECK(whole.compared == Indices{0, 5, 7});
  CHECK(whole.different.empty());
  Index steps = 0;
  const Replay part =
      replay(run, folder / "part",
             {.stepped = [&](Index, double) { ++steps; }, .should_stop = [&] { return steps == 3; }});
  CHECK_FALSE(part.is_whole);
  CHECK(steps == 3);
}
