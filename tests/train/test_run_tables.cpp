#include "tapehead/train/run_tables.h"

#include <cmath>

#include "support/folder.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/train/run.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("the score that a ring follows is the accuracy, or the best head's at each evaluation") {
  const Folder folder;
  Config config = tiny_config();
  const auto scores_of = [&](const char* score) {
    config.train.ring_score = score;
    const RunDirectory run = RunDirectory::create(folder / score, config, false);
    put(run.metrics_file(), "step,accuracy_induction\n0,0.25\n4,\n8,0.5\n");
    put(run.heads_file(), "step,head,previous_token,induction\n0,0,0.5,\n0,1,0.25,0.125\n4,0,0.25,0.5\n");
    return ring_scores(run);
  };
  const std::vector<ScoreAt> accuracy = scores_of("accuracy_induction");
  REQUIRE(accuracy.size() == 3);
  CHECK(accuracy[2].step == 8);
  CHECK(accuracy[2].score == 0.5);
  CHECK(std::isnan(accuracy[1].score));
  const std::vector<ScoreAt> previous = scores_of("previous_token");
  REQUIRE(previous.size() == 2);
  CHECK(previous[0].score == 0.5);
  CHECK(previous[1].score == 0.25);
  CHECK(scores_of("induction")[0].score == 0.125);
}

TEST_CASE("a run without tables has no scores yet") {
  const Folder folder;
  CHECK(ring_scores(RunDirectory::create(folder / "run", tiny_config(), false)).empty());
}
TEST_CASE("tables as they stand go past the newest checkpoint, but have every row up to there") {
  const Folder folder;
  const Config config = tiny_config();
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  CHECK(whole_metrics(run).rows() == 0);
  CHECK(whole_heads(run).rows() == 0);
  Trainer trainer(config, 1);
  train_run(trainer, run, {.should_stop = [&] { return trainer.step() == 8; }});
  const std::string metrics = text_of(run.metrics_file());
  const std::string a_row =
      metrics.substr(metrics.find('\n') + 1, metrics.find('\n', metrics.find('\n') + 1) - metrics.find('\n'));
  CHECK(whole_metrics(run).numbers("step") == std::vector<double>{0, 4, 8});
  put(run.metrics_file(), metrics + "10" + a_row.substr(1));
  CHECK(whole_metrics(run).numbers("step") == std::vector<double>{0, 4, 8, 10});
  put(run.metrics_file(), metrics.substr(0, metrics.rfind('\n', metrics.size() - 2) + 1));
  CHECK_THROWS_WITH_AS(whole_metrics(run), doctest::Contains("those of step 8 are missing"), Error);
}
