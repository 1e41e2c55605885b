#include "tapehead/train/fork.h"

#include <string>
#include <vector>

#include "support/folder.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/run.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

using Words = std::vector<std::string>;

/// A finished run of ten steps: evaluations after 0, 4, 8 and 10, checkpoints of 0, 5 and 10.
struct Base {
  Base() : run(RunDirectory::create(folder / "base", tiny_config(), false)) {
    Trainer trainer(tiny_config(), 1);
    train_run(trainer, run, {});
  }
  RunDirectory child(Index step, const Words& overrides = {}, const std::string& name = "child") const {
    return fork_run(run, step, overrides, folder / name);
  }
  std::string refusal(Index step, const Words& overrides) const {
    const std::string words = complaint_of([&] { child(step, overrides, "refused"); });
    CHECK_FALSE(std::filesystem::exists(folder / "refused"));
    return words;
  }
  Folder folder;
  RunDirectory run;
};

void finish(const RunDirectory& run, int threads = 1) {
  Trainer trainer = resume_run(run, threads);
  CHECK(train_run(trainer, run, {}));
}

/// metrics.csv but for the column that a clock writes.
std::string metrics_of(const RunDirectory& run) {
  CsvTable table = CsvTable::read(run.metrics_file());
  std::string text;
  for (Index row = 0; row < table.rows(); ++row)
    for (const std::string& column : table.columns())
      if (column != "seconds") text += table.cell(row, column) + (column == "gradient_norm" ? "\n" : ",");
  return text;
}

}  // namespace

TEST_CASE("a child without changes comes to its parent's bits and tables, on any number of threads") {
  const Base base;
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    const RunDirectory child = base.child(5, {}, "child-" + std::to_string(threads));
    CHECK(child.checkpoint_steps() == std::vector<Index>{5});
    CHECK(text_of(child.checkpoint_file(5)) == text_of(base.run.checkpoint_file(5)));
    finish(child, threads);
    CHECK(text_of(child.checkpoint_file(10)) == text_of(base.run.checkpoint_file(10)));
    CHECK(metrics_of(child) == metrics_of(base.run));
    CHECK(text_of(child.path() / "config.toml") == text_of(base.run.path() / "config.toml"));
  }
}

TEST_CASE("a child of step 0 comes to its parent's bits too, and begins its tables anew") {
  const Base base;
  const RunDirectory child = base.child(0);
  CHECK_FALSE(std::filesystem::exists(child.metrics_file()));
  finish(child);
  CHECK(text_of(child.checkpoint_file(10)) == text_of(base.run.checkpoint_file(10)));
  CHECK(metrics_of(child) == metrics_of(base.run));
}

TEST_CASE("a child names its parent as seen from its own folder, and a run by itself has none") {
  const Base base;
  CHECK_FALSE(base.run.parent().has_value());
  const std::optional<Parent> parent = base.child(5).parent();
  REQUIRE(parent.has_value());
  CHECK(parent->path == "../base");
  CHECK(parent->step == 5);
}

TEST_CASE("a finished run is trained longer by a child, whose curves are whole") {
  const Base base;
  const RunDirectory child = base.child(10, {"train.steps=17"});
  finish(child);
  CHECK(CsvTable::read(child.metrics_file()).numbers("step") == std::vector<double>{0, 4, 8, 10, 12, 16, 17});
  CHECK(child.checkpoint_steps() == std::vector<Index>{10, 15, 17});
}

TEST_CASE("a child may evaluate at other steps, can be stopped and gone on with, and have a child") {
  const Base base;
  const Words other{"train.evaluation_interval=3"};
  const RunDirectory straight = base.child(5, other, "straight");
  finish(straight);
  CHECK(CsvTable::read(straight.metrics_file()).numbers("step") == std::vector<double>{0, 4, 6, 9, 10});

  const RunDirectory stopped = base.child(5, other, "stopped");
  Trainer trainer = resume_run(stopped, 1);
  CHECK_FALSE(train_run(trainer, stopped, {.should_stop = [&] { return trainer.step() >= 7; }}));
  finish(stopped);
  CHECK(metrics_of(stopped) == metrics_of(straight));

  const RunDirectory grandchild = fork_run(stopped, 7, Words{}, base.folder / "grandchild");
  finish(grandchild);
  CHECK(metrics_of(grandchild) == metrics_of(straight));
  CHECK(text_of(grandchild.checkpoint_file(10)) == text_of(straight.checkpoint_file(10)));
}

TEST_CASE("a child's rows that are missing are noticed, its own and its parent's") {
  const Base base;
  const RunDirectory child = base.child(5);
  finish(child);
  std::filesystem::remove(child.checkpoint_file(10));
  const std::string metrics = text_of(child.metrics_file());
  Trainer trainer = resume_run(child, 1);
  for (int i = 0; i < 4; ++i) trainer.advance();
  const std::size_t eight = metrics.find("\n8,") + 1;
  put(child.metrics_file(), metrics.substr(0, eight) + metrics.substr(metrics.find('\n', eight) + 1));
  CHECK(failure_of([&] { train_run(trainer, child, {}); }).find("those of step 8 are missing") !=
        std::string::npos);
  put(child.heads_file(), "step,head\n0,a\n0,b\n0,c\n0,d\n4,a\n4,b\n4,c\n8,a\n");
  put(child.metrics_file(), metrics);
  CHECK(failure_of([&] { train_run(trainer, child, {}); }).find("of those of step 4 some are missing") !=
        std::string::npos);
}

TEST_CASE("an intervention set in a fork acts from there on, and the parent's bits stay what they were") {
  const Base base;
  const std::string before = text_of(base.run.latest_checkpoint());
  const RunDirectory child =
      base.child(5, {"intervention=[{site=\"blocks.0.attention.head_output\", from=7}]"});
  finish(child);
  const CsvTable ours = CsvTable::read(child.metrics_file());
  const CsvTable theirs = CsvTable::read(base.run.metrics_file());
  CHECK(ours.cell(1, "loss") == theirs.cell(1, "loss"));
  CHECK(ours.cell(2, "loss") != theirs.cell(2, "loss"));
  CHECK(text_of(base.run.latest_checkpoint()) == before);
  CHECK(text_of(base.run.path() / "config.toml") == to_toml(tiny_config()));
}

TEST_CASE("dropout, the learning rate and what is saved may change in a fork") {
  const Base base;
  const RunDirectory child =
      base.child(5, {"model.dropout=0.5", "train.learning_rate=0.1", "train.schedule=constant",
                     "train.warmup=0", "train.weight_decay=0", "train.betas=[0.5,0.5]", "train.clip=0",
                     "train.checkpoint_steps=[7]", "train.dropout_seed=5", "train.shard=3"});
  finish(child);
  CHECK(child.checkpoint_steps() == std::vector<Index>{5, 7, 10});
  CHECK(load_checkpoint(child.latest_checkpoint()).model.config().dropout == 0.5);
}

TEST_CASE("what a fork cannot change is refused by the field's name and the reason, and nothing is made") {
  const Base base;
  CHECK(base.refusal(5, {"train.batch=8"}) ==
        "[fork] train.batch cannot change from 7 to 8 in a fork: the data to come are the parent's");
  for (const char* override :
       {"model.heads=4", "model.layers=3", "model.gelu=erf", "task.length=10", "task.period_max=5",
        "train.data_seed=2", "train.initialisation_seed=2", "train.optimizer=adam", "train.evaluation_seed=2",
        "train.evaluation_sequences=5"}) {
    CAPTURE(override);
    const std::string name(override, std::string_view(override).find('='));
    CHECK(base.refusal(5, {override}).starts_with("[fork] " + name + " cannot change from "));
  }
  CHECK(base.refusal(6, {}) ==
        "[fork] " + base.run.path().string() + " has no checkpoint of step 6; it has 0 5 10");
  CHECK(base.refusal(10, {}) ==
        "[fork] nothing is left to train after step 10 of 10; set train.steps to more");
  CHECK(base.refusal(5, {"train.stepz=3"}).find("the nearest is train.steps") != std::string::npos);
}

TEST_CASE("a run is not its own child, and one that is there is replaced only where that is wished") {
  const Base base;
  for (const bool overwrite : {false, true})
    CHECK(complaint_of([&] {
            fork_run(base.run, 5, Words{}, base.run.path(), overwrite);
          }).find("cannot be its own child") != std::string::npos);
  base.child(5);
  CHECK(complaint_of([&] { base.child(5); }).find("holds a run already") != std::string::npos);
  CHECK(fork_run(base.run, 0, Words{}, base.folder / "child", true).checkpoint_steps() ==
        std::vector<Index>{0});
}

TEST_CASE("a fork takes the scores of heads up to its step along, and the floors") {
  const Base base;
  put(base.run.heads_file(), "step,head\n0,a\n0,b\n0,c\n0,d\n4,a\n4,b\n4,c\n4,d\n8,a\n8,b\n8,c\n8,d\n");
  put(base.run.table_file("floors"), "floor,loss\nbayes,1\n");
  const RunDirectory child = base.child(5);
  CHECK(text_of(child.heads_file()) == "step,head\n0,a\n0,b\n0,c\n0,d\n4,a\n4,b\n4,c\n4,d\n");
  CHECK(text_of(child.table_file("floors")) == "floor,loss\nbayes,1\n");
}
