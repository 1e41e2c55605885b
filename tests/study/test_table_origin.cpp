#include "tapehead/study/table_origin.h"

#include "support/folder.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/context_score.h"
#include "tapehead/train/parent.h"
#include "tapehead/train/trainer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// A run with a checkpoint of step 0.
RunDirectory run_in(const Folder& folder, const Config& config = tiny_config()) {
  RunDirectory run = RunDirectory::create(folder / "a run", config, false);
  const Trainer trainer(config, 1);
  save_checkpoint(run.checkpoint_file(0), config, trainer.model(), trainer.optimizer(), 0);
  return run;
}

CsvTable table_of(const std::vector<std::string>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
  CsvTable table(columns);
  for (const auto& row : rows) table.add(row);
  return table;
}

/// The line with RUN for the run's path, and RUN-again for the folder beside it.
std::string line(const RunDirectory& run, const char* name, const CsvTable& there = CsvTable({})) {
  std::string text = shell_text(commands_for_table(run, name, there));
  const std::string path = (run.path() / "").lexically_normal().parent_path().string();
  for (const auto& [word, sign] : {std::pair{run.path().string(), "RUN"}, {path + "-again", "RUN-again"}}) {
    const std::string quoted = "'" + word + "'";
    for (auto at = text.find(quoted); at != std::string::npos; at = text.find(quoted))
      text.replace(at, quoted.size(), sign);
  }
  return text;
}

}  // namespace

TEST_CASE("every table has a description and, where there is none yet, the command that makes it") {
  const Folder folder;
  const RunDirectory run = run_in(folder);
  for (const std::string_view name : kRunTables) CHECK_FALSE(about_table(name).empty());
  CHECK(line(run, "verdict") == "tapehead verdict RUN");
  CHECK(line(run, "ablation") == "tapehead ablate RUN --kind all");
  CHECK(line(run, "shapley") == "tapehead ablate RUN --subsets");
  CHECK(line(run, "patching") == "tapehead patch RUN");
  CHECK(line(run, "composition") == "tapehead circuits RUN");
  CHECK(line(run, "lens") == "tapehead lens RUN");
  CHECK(line(run, "context") == "tapehead context RUN");
  CHECK(line(run, "formation") == "tapehead formation RUN");
  CHECK_THROWS_AS(about_table("weather"), InternalError);
}

TEST_CASE(
    "a table that is there gives the options that it was made with, where they are not the usual ones") {
  const Folder folder;
  const RunDirectory run = run_in(folder);
  const std::string usual = std::to_string(run.config().train.evaluation_sequences);
  CHECK(line(run, "lens", table_of({"layer", "step", "sequences"}, {{"0", "0", usual}})) ==
        "tapehead lens RUN");
  CHECK(line(run, "lens", table_of({"layer", "step", "sequences"}, {{"0", "5", "999"}})) ==
        "tapehead lens RUN --step 5 --sequences 999");
  CHECK(line(run, "scores",
             table_of({"period", "step", "sequences"},
                      {{"7", "0", usual}, {"7", "0", usual}, {"9", "0", usual}})) ==
        "tapehead heads RUN --periods 7,9");
  CHECK(line(run, "ablation", table_of({"kind", "step", "sequences"}, {{"mean", "0", usual}})) ==
        "tapehead ablate RUN --kind mean");
  CHECK(line(run, "ablation",
             table_of({"kind", "step", "sequences"}, {{"zero", "0", usual}, {"mean", "0", usual}})) ==
        "tapehead ablate RUN --kind all");
  CHECK(line(run, "verdict", table_of({"twin", "step", "sequences"}, {{"no", "0", "64"}})) ==
        "tapehead verdict RUN --no-twin");
}

TEST_CASE("a table of in-context learning gives its positions, where they are not the usual ones") {
  const Folder folder;
  Config config = tiny_config();
  config.task.length = config.model.context;
  const RunDirectory run = run_in(folder, config);
  const ContextOptions usual = context_options(config.task.length, {}, {});
  CHECK(line(run, "context", context_table({{.step = 0}}, 0, usual)) == "tapehead context RUN");
  const auto table_with = [](const ContextOptions& options) {
    return context_table({{.losses = {1}, .slopes = {0}}}, 1, options);
  };
  CHECK(line(run, "context", table_with(usual)) == "tapehead context RUN");
  CHECK(line(run, "context", table_with({.early = 2, .late = usual.late, .spread = 0, .sequences = 9})) ==
        "tapehead context RUN --early 2 --spread 0 --sequences 9");
}

TEST_CASE("a patching table of other grids gives a line a grid") {
  const Folder folder;
  const RunDirectory run = run_in(folder);
  const std::vector<std::string> columns{"site", "by", "to", "step", "sequences", "sequence"};
  CHECK(line(run, "patching",
             table_of(columns, {{"head_output", "head", "1.0.keys", "0", "64", "3"},
                                {"residual", "position", "", "0", "64", "3"}})) ==
        "tapehead patch RUN --site head_output --by head --to 1.0.keys --sequence 3 && "
        "tapehead patch RUN --site residual --by position --sequence 3");
}

TEST_CASE("a training's tables are made again in a folder beside the run, however its path is written") {
  const Folder folder;
  const RunDirectory run = run_in(folder);
  CHECK(line(run, "metrics").ends_with("--out RUN-again"));
  CHECK(line(RunDirectory::open(run.path() / ""), "heads").ends_with("--out RUN-again"));
}

TEST_CASE("a fork's tables were made by forking its parent") {
  const Folder folder;
  const RunDirectory run = run_in(folder);
  write_parent(run.parent_file(), {.path = "../elsewhere", .step = 4});
  const std::string text = line(run, "metrics");
  CHECK(text.starts_with("tapehead fork "));
  CHECK(text.find("elsewhere --step 4 --out RUN-again") != std::string::npos);
  // What the fork changed is known where its parent is there.
  Config config = tiny_config();
  config.train.steps -= 3;
  const RunDirectory parent = RunDirectory::create(folder / "elsewhere", config, false);
  CHECK(line(run, "metrics").find("elsewhere --step 4 --set train.steps=10 --out RUN-again") !=
        std::string::npos);
}

TEST_CASE("what a run cannot have no command makes") {
  const Folder folder;
  Config config = tiny_config();
  config.model.layers = 0;
  const RunDirectory run = run_in(folder, config);
  for (const char* name : {"heads", "ablation", "patching", "circuits", "attribution", "scores"})
    CHECK(line(run, name).empty());
  CHECK(line(run, "lens") == "tapehead lens RUN");
}

TEST_CASE("sequences without room for a period have no scores at periods") {
  const Folder folder;
  Config config = tiny_config();
  config.task.name = "fixed_period_sequence";
  config.task.length = 3;
  config.task.period = 2;
  CHECK(line(run_in(folder, config), "scores").empty());
}

TEST_CASE("no command makes the tables of an imported model's training") {
  const Folder folder;
  Config config = tiny_config();
  config.model.initialisation = Initialisation::imported;
  const RunDirectory run = RunDirectory::create(folder / "a run", config, false);
  for (const std::string_view name : kTablesOfTraining)
    CHECK(commands_for_table(run, name, CsvTable({})).empty());
  CHECK(commands_for_table(run, "formation", CsvTable({})).empty());
}
