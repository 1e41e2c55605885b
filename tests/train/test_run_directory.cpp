#include "tapehead/train/run_directory.h"

#include <fmt/core.h>
#include <unistd.h>

#include <vector>

#include "support/folder.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace fs = std::filesystem;

using testing::complaint_of;

TEST_CASE("a new run is a folder with the resolved config and a place for checkpoints") {
  const Folder folder;
  const Config config = tiny_config();
  const RunDirectory run = RunDirectory::create(folder / "runs/a", config, false);
  CHECK(run.path() == folder / "runs/a");
  CHECK(run.config() == config);
  CHECK(text_of(folder / "runs/a/config.toml") == to_toml(config));
  CHECK(read_config(folder / "runs/a/config.toml") == config);
  CHECK(fs::is_directory(folder / "runs/a/checkpoints"));
  CHECK(std::distance(fs::directory_iterator(run.path()), {}) == 3);  // with the lock

  CHECK(run.metrics_file() == folder / "runs/a/metrics.csv");
  CHECK(run.heads_file() == folder / "runs/a/heads.csv");
  CHECK(run.table_file("ablation") == folder / "runs/a/ablation.csv");
  CHECK(run.figures_folder() == folder / "runs/a/figures");
}

TEST_CASE("an empty folder is taken for a new run") {
  const Folder folder;
  CHECK(RunDirectory::create(folder.path(), tiny_config(), false).config() == tiny_config());
}

TEST_CASE("a run that exists is not overwritten without being told to") {
  const Folder folder;
  RunDirectory::create(folder / "a", tiny_config(), false);
  put(folder / "a/metrics.csv", "step\n0\n");
  CHECK(complaint_of([&] { RunDirectory::create(folder / "a", Config{}, false); }) ==
        "[run] " + (folder / "a").string() +
            " holds a run already; choose another with --out, go on with --resume, or replace it with "
            "--overwrite");
  CHECK(text_of(folder / "a/metrics.csv") == "step\n0\n");
  CHECK(RunDirectory::open(folder / "a").config() == tiny_config());
}

TEST_CASE("overwriting a run removes its own files and nothing else") {
  const Folder folder;
  RunDirectory::create(folder / "a", tiny_config(), false);
  for (const char* name : {"metrics.csv", "heads.csv", "ablation.csv", "checkpoints/step-000005.safetensors",
                           "notes.txt", "plots/mine.png"}) {
    fs::create_directories((folder / "a" / name).parent_path());
    put(folder / "a" / name, "something");
  }
  fs::create_directories(folder / "a/figures");
  put(folder / "a/figures/loss.png", "something");

  const RunDirectory run = RunDirectory::create(folder / "a", Config{}, true);
  CHECK(read_config(folder / "a/config.toml") == Config{});
  CHECK(run.checkpoint_steps().empty());
  for (const char* name : {"metrics.csv", "heads.csv", "ablation.csv", "figures"}) {
    CAPTURE(name);
    CHECK_FALSE(fs::exists(folder / "a" / name));
  }
  CHECK(text_of(folder / "a/notes.txt") == "something");
  CHECK(text_of(folder / "a/plots/mine.png") == "something");
}

TEST_CASE("what is not a run is never overwritten") {
  const Folder folder;
  fs::create_directories(folder / "full");
  put(folder / "full/metrics.csv", "mine");
  put(folder / "file", "mine");
  fs::create_directories(folder / "site/figures");
  put(folder / "site/config.toml", "title = \"another program's\"\n");
  for (const bool overwrite : {false, true}) {
    CAPTURE(overwrite);
    for (const char* name : {"full", "file", "site"}) {
      CAPTURE(name);
      CHECK(complaint_of([&] { RunDirectory::create(folder / name, tiny_config(), overwrite); }) ==
            "[run] " + (folder / name).string() + " exists and is not a run; choose another with --out");
    }
  }
  CHECK(text_of(folder / "full/metrics.csv") == "mine");
  CHECK(text_of(folder / "file") == "mine");
  CHECK(text_of(folder / "site/config.toml") == "title = \"another program's\"\n");
  CHECK(fs::is_directory(folder / "site/figures"));
}

TEST_CASE("two programs never write into one run") {
  const Folder folder;
  const std::string refusal =
      fmt::format("[run] process {} is writing into {}; wait until it is done, or stop it", ::getpid(),
                  (folder / "a").string());
  {
    const RunDirectory first = RunDirectory::create(folder / "a", tiny_config(), false);
    const RunDirectory copy = first;
    CHECK(complaint_of([&] { RunDirectory::open_for_writing(folder / "a"); }) == refusal);
    CHECK(complaint_of([&] { RunDirectory::create(folder / "a", Config{}, true); }) == refusal);
    CHECK(RunDirectory::open(folder / "a").config() == tiny_config());
  }
  const RunDirectory second = RunDirectory::open_for_writing(folder / "a");
  CHECK(second.config() == tiny_config());
  CHECK(complaint_of([&] { RunDirectory::open_for_writing(folder / "a"); }) == refusal);
}

TEST_CASE("a run that is filled as it is made counts as one only when that is done") {
  const Folder folder;
  const RunDirectory made =
      RunDirectory::create(folder / "a", tiny_config(), false, [&](const RunDirectory& run) {
        CHECK_THROWS_AS(RunDirectory::open(folder / "a"), UsageError);
        put(run.checkpoint_file(0), "first");
      });
  CHECK(RunDirectory::open(folder / "a").checkpoint_steps() == std::vector<Index>{0});
}

TEST_CASE("where a run was killed as it began, or as it was overwritten, a run may begin") {
  const Folder folder;
  fs::create_directories(folder / "begun/checkpoints");
  put(folder / "begun/.lock", "17\n");
  put(folder / "begun/config.toml.tmp-17-0", "[mod");
  CHECK(RunDirectory::create(folder / "begun", tiny_config(), false).config() == tiny_config());
  CHECK_FALSE(fs::exists(folder / "begun/config.toml.tmp-17-0"));

  // Filled already, when it was killed: what has no config yet is no run to go on with.
  fs::create_directories(folder / "filled/checkpoints");
  put(folder / "filled/.lock", "17\n");
  put(folder / "filled/checkpoints/step-000000.safetensors", "whole");
  CHECK_THROWS_AS(RunDirectory::open(folder / "filled"), UsageError);
  CHECK(RunDirectory::create(folder / "filled", tiny_config(), false).checkpoint_steps().empty());

  RunDirectory::create(folder / "overwritten", tiny_config(), false);
  fs::remove(folder / "overwritten/checkpoints");
  CHECK(RunDirectory::open_for_writing(folder / "overwritten").checkpoint_steps().empty());
  fs::remove(folder / "overwritten/checkpoints");
  CHECK(RunDirectory::create(folder / "overwritten", Config{}, true).config() == Config{});
}

TEST_CASE("whoever goes on with a run first removes what a killed writer left half-done, and nothing else") {
  const Folder folder;
  RunDirectory::create(folder / "a", tiny_config(), false);
  for (const char* name : {"checkpoints/step-000005.safetensors.tmp-17-3", "metrics.csv.tmp-17-4"})
    put(folder / "a" / name, "half");
  for (const char* name : {"checkpoints/step-000005.safetensors", "metrics.csv", "notes.tmp", "mine.tmp-x"})
    put(folder / "a" / name, "whole");
  RunDirectory::open_for_writing(folder / "a");
  CHECK_FALSE(fs::exists(folder / "a/checkpoints/step-000005.safetensors.tmp-17-3"));
  CHECK_FALSE(fs::exists(folder / "a/metrics.csv.tmp-17-4"));
  for (const char* name : {"checkpoints/step-000005.safetensors", "metrics.csv", "notes.tmp", "mine.tmp-x"}) {
    CAPTURE(name);
    CHECK(text_of(folder / "a" / name) == "whole");
  }
}

TEST_CASE("a config that is not valid makes no folder and removes no run") {
  const Folder folder;
  Config wrong = tiny_config();
  wrong.model.heads = 3;
  CHECK_THROWS_AS(RunDirectory::create(folder / "a", wrong, false), UsageError);
  CHECK_FALSE(fs::exists(folder / "a"));

  RunDirectory::create(folder / "a", tiny_config(), false);
  put(folder / "a/metrics.csv", "step\n0\n");
  CHECK_THROWS_AS(RunDirectory::create(folder / "a", wrong, true), UsageError);
  CHECK(text_of(folder / "a/metrics.csv") == "step\n0\n");
  CHECK(RunDirectory::open(folder / "a").config() == tiny_config());
}

TEST_CASE("a place that cannot be written is an error that names it") {
  const Folder folder;
  put(folder / "file", "mine");
  CHECK_THROWS_WITH_AS(RunDirectory::create(folder / "file/run", tiny_config(), false),
                       ("[run] cannot use " + (folder / "file/run").string() + ": Not a directory").c_str(),
                       Error);
}

TEST_CASE("a run is opened with the config it was made with, and what is not a run is refused") {
  const Folder folder;
  RunDirectory::create(folder / "a", tiny_config(), false);
  const RunDirectory run = RunDirectory::open(folder / "a");
  CHECK(run.config() == tiny_config());
  CHECK(run.path() == folder / "a");
  for (const char* name : {"b", "a/checkpoints"})
    CHECK(complaint_of([&] { RunDirectory::open(folder / name); }) ==
          "[run] " + (folder / name).string() +
              " is not a run: it has no config.toml; make one with `tapehead train CONFIG`");
  put(folder / "a/config.toml", "[model]\nlayer = 3\n");
  CHECK_THROWS_AS(RunDirectory::open(folder / "a"), UsageError);
}

TEST_CASE("checkpoints are listed in the order of their steps, other files are not") {
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "a", tiny_config(), false);
  CHECK(run.checkpoint_steps().empty());
  CHECK_THROWS_WITH_AS(run.latest_checkpoint(),
                       ("[run] " + (folder / "a").string() + " has no checkpoint yet").c_str(), Error);

  CHECK(run.checkpoint_file(20) == folder / "a/checkpoints/step-000020.safetensors");
  CHECK(run.checkpoint_file(1234567) == folder / "a/checkpoints/step-1234567.safetensors");
  for (const Index step : {1234567, 20, 0, 999999, 3}) put(run.checkpoint_file(step), "");
  for (const char* name : {"step-000007.safetensors.tmp-1-2", "step-x.safetensors", "step-.safetensors",
                           "step-7x.safetensors", "notes.txt"})
    put(folder / "a/checkpoints" / name, "");
  CHECK(run.checkpoint_steps() == std::vector<Index>{0, 3, 20, 999999, 1234567});
  CHECK(run.latest_checkpoint() == run.checkpoint_file(1234567));
}
