#include "tapehead/study/scored_run.h"

#include <algorithm>

#include "support/finished_run.h"
#include "support/folder.h"
#include "support/ranks.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/composition.h"
#include "tapehead/interp/head_scores.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/fork.h"
#include "tapehead/train/joint_run.h"
#include "tapehead/train/run_tables.h"

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
    CHECK(heads.cell(row, "copying") == csv_cell(head[Score::copying]));
    CHECK(heads.cell(row, "k_composition") ==
          csv_cell(k_composition_scores(trainer.model())[static_cast<std::size_t>(i)]));
    CHECK(heads.cell(row, "k_composition").empty() == (head.layer == 0));
  }
  CHECK(heads.columns() == head_columns());
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

TEST_CASE("whoever follows a scored run is given every head's scores before the evaluation") {
  const Folder folder;
  const Config config = tiny_config();
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  std::vector<HeadScores> last;
  std::string calls;
  CHECK(train_scored_run(
      trainer, run, {.evaluated = [&](const Trainer&, const Batch&, const Evaluation&) { calls += 'e'; }},
      [&](const std::vector<HeadScores>& scores) {
        calls += 's';
        last = scores;
      }));
  const Index evaluations = CsvTable::read(run.metrics_file()).rows();
  REQUIRE(static_cast<Index>(calls.size()) == 2 * evaluations);
  for (std::size_t i = 0; i < calls.size(); ++i) CHECK(calls[i] == (i % 2 == 0 ? 's' : 'e'));
  const std::vector<HeadScores> own = score_heads(trainer.model(), evaluation_batch(config));
  REQUIRE(last.size() == own.size());
  for (std::size_t i = 0; i < own.size(); ++i) CHECK(last[i][Score::induction] == own[i][Score::induction]);
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

TEST_CASE("the ring of a scored run follows the best head's score, before and after it is gone on with") {
  Config config = tiny_config();
  config.train.steps = 16;
  config.train.checkpoint_interval = 0;
  config.train.ring_snapshots = 8;
  for (const char* score : {"previous_token", "induction", "accuracy_induction"}) {
    CAPTURE(score);
    config.train.ring_score = score;
    const Folder folder;
    const RunDirectory run = RunDirectory::create(folder / "run", config, false);
    Trainer trainer(config, 1);
    train_scored_run(trainer, run);

    // The steepest rise by the run's own tables; the window is the eight steps around its middle.
    const std::vector<ScoreAt> scores = ring_scores(run);
    REQUIRE(scores.size() == 5);
    double steepest = 0, middle = -1;
    for (std::size_t i = 1; i + 1 < scores.size(); ++i) {
      if (!(scores[i + 1].score - scores[i - 1].score > steepest)) continue;
      steepest = scores[i + 1].score - scores[i - 1].score;
      middle = scores[i].step;
    }
    std::vector<Index> expected{0};
    for (Index step = 1; step < 16; ++step)
      if (middle >= 0 && static_cast<double>(step) > middle - 4 && static_cast<double>(step) <= middle + 4)
        expected.push_back(step);
    expected.push_back(16);
    CHECK(run.checkpoint_steps() == expected);
  }
}

TEST_CASE("a scored run whose table has the columns of another version is not gone on with") {
  const Folder folder;
  const Config config = tiny_config();
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  train_scored_run(trainer, run);
  CHECK(resume_scored_run(run, 1).step() == config.train.steps);
  std::string text = text_of(run.heads_file());
  text.replace(text.find(",k_composition"), 14, ",other");
  put(run.heads_file(), text);
  CHECK_THROWS_WITH_AS(resume_scored_run(run, 1),
                       doctest::Contains("should have the columns step,layer,head,previous_token"), Error);
}

TEST_CASE("a run without patterns has no scores, and a fork that holds them scores its heads from there on") {
  const Folder folder;
  Config config = tiny_config();
  config.model.attention = AttentionForm::tiled;
  config.model.dropout = 0;  // the tiled attention has no weights to drop
  const RunDirectory run = RunDirectory::create(folder / "tiled", config, false);
  Trainer trainer(config, 1);
  CHECK(train_scored_run(trainer, run));
  CHECK(CsvTable::read(run.heads_file()).rows() == 0);
  CHECK(whole_heads(run).rows() == 0);

  const Index from = run.checkpoint_steps().front();
  const auto child = [&](const RunDirectory& parent, const char* name, const char* attention) {
    const std::vector<std::string> settings{std::string("model.attention=") + attention};
    const RunDirectory forked = fork_run(parent, from, settings, folder / name, false);
    Trainer goes_on = resume_scored_run(forked, 1);
    CHECK(train_scored_run(goes_on, forked));
    return forked;
  };
  const RunDirectory patterned = child(run, "patterned", "pattern");
  const CsvTable heads = whole_heads(patterned);
  CHECK(heads.rows() > 0);
  CHECK(heads.number(heads.rows() - 1, "step") == static_cast<double>(config.train.steps));
  CHECK(whole_heads(child(patterned, "tiled-again", "tiled")).rows() == 0);
}

TEST_CASE("a finished run without patterns is made one that can be looked at, with nothing to train") {
  const Folder folder;
  Config config = tiny_config();
  config.model.attention = AttentionForm::tiled;
  config.model.dropout = 0;
  const RunDirectory run = RunDirectory::create(folder / "tiled", config, false);
  Trainer trainer(config, 1);
  CHECK(train_scored_run(trainer, run));
  const auto fork_at_end = [&](const std::vector<std::string>& settings, const char* name) {
    return fork_run(run, config.train.steps, settings, folder / name, false);
  };
  const RunDirectory shown = fork_at_end({"model.attention=pattern"}, "shown");
  CHECK(shown.latest_step() == config.train.steps);
  Trainer finished = resume_scored_run(shown, 1);
  CHECK(train_scored_run(finished, shown));
  CHECK(std::ranges::equal(finished.model().parameters().values(), trainer.model().parameters().values()));
  CHECK_THROWS_AS(fork_at_end({"train.learning_rate=0.5"}, "nothing"), UsageError);
}

TEST_CASE("several ranks train a scored run together, whose files are those of one process") {
  const Folder folder;
  Config config = tiny_config();
  config.train.evaluation_sequences = 40;
  const RunDirectory alone = finished_run(folder, config);
  for (const int count : {2, 4}) {
    CAPTURE(count);
    const std::filesystem::path path = folder / fmt::format("on-{}", count);
    check_on_ranks(count, [&](Ranks& ranks) {
      Trainer trainer(config, {1, ranks});
      start_together(trainer);
      if (ranks.leads())
        CHECK(train_scored_run(trainer, RunDirectory::create(path, config, false)));
      else
        CHECK(follow_scored_run(trainer, {}));
    });
    for (const char* file : {"heads.csv", "floors.csv", "config.toml", "checkpoints/step-000000.safetensors",
                             "checkpoints/step-000010.safetensors"}) {
      CAPTURE(file);
      CHECK(text_of(path / file) == text_of(alone.path() / file));
    }
  }
}
