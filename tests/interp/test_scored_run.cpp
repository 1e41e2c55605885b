#include "tapehead/interp/scored_run.h"

#include "support/folder.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/head_scores.h"
#include "tapehead/train/csv.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("heads.csv has the scores of every head after every evaluation, as from an evaluation of its own") {
  const Folder folder;
  const Config config = tiny_config();
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 2);
  CHECK(train_scored_run(trainer, run));
  const CsvTable heads = CsvTable::read(run.heads_file());
  const Index of_an_evaluation = config.model.layers * config.model.heads;
  REQUIRE(heads.rows() % of_an_evaluation == 0);
  CHECK(heads.number(heads.rows() - 1, "step") == static_cast<double>(config.train.steps));
  const std::vector<HeadScores> scores = score_heads(trainer.model(), evaluation_batch(config));
  for (Index i = 0; i < of_an_evaluation; ++i) {
    const Index row = heads.rows() - of_an_evaluation + i;
    const HeadScores& head = scores[static_cast<std::size_t>(i)];
    CHECK(heads.cell(row, "layer") == std::to_string(head.layer));
    CHECK(heads.cell(row, "head") == std::to_string(head.head));
    CHECK(heads.cell(row, "previous_token") == csv_cell(head[Score::previous_token]));
    CHECK(heads.cell(row, "induction") == csv_cell(head[Score::induction]));
  }
}

TEST_CASE("an observer of a scored run sees every evaluation once its scores are written") {
  const Folder folder;
  const Config config = tiny_config();
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  Index evaluations = 0;
  CHECK(train_scored_run(trainer, run, {.evaluated = [&](const Trainer& at, const Batch&, const Evaluation&) {
                           ++evaluations;
                           const CsvTable heads = CsvTable::read(run.heads_file());
                           CHECK(heads.number(heads.rows() - 1, "step") == static_cast<double>(at.step()));
                         }}));
  CHECK(evaluations == CsvTable::read(run.metrics_file()).rows());
}

TEST_CASE("a scored run whose scores are gone is not gone on with") {
  const Folder folder;
  const Config config = tiny_config();
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  train_scored_run(trainer, run);
  std::filesystem::remove(run.heads_file());
  CHECK_THROWS_WITH_AS(resume_scored_run(run, 1), doctest::Contains("heads.csv is missing"), Error);
}
