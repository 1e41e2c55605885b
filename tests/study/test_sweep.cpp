#include "tapehead/study/sweep.h"

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "support/folder.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/csv.h"

using namespace tapehead;
using namespace tapehead::testing;
namespace fs = std::filesystem;

namespace {

/// The metrics but for the seconds.
std::string metrics_in(const fs::path& run) {
  const CsvTable table = CsvTable::read(run / "metrics.csv");
  std::string text;
  for (Index row = 0; row < table.rows(); ++row)
    for (const std::string& column : table.columns())
      if (column != "seconds") text += table.cell(row, column) + ",";
  return text;
}

void check_same_run(const fs::path& run, const fs::path& other) {
  CAPTURE(run.string());
  CHECK(text_of(run / "config.toml") == text_of(other / "config.toml"));
  CHECK(text_of(run / "heads.csv") == text_of(other / "heads.csv"));
  CHECK(metrics_in(run) == metrics_in(other));
  CHECK(text_of(run / "checkpoints/step-000010.safetensors") ==
        text_of(other / "checkpoints/step-000010.safetensors"));
}

/// The same run, trained by itself.
void train_alone(const Setting& setting, const fs::path& path) {
  const RunDirectory run = RunDirectory::create(path, setting.config, false);
  Trainer trainer(setting.config, 2);
  REQUIRE(train_scored_run(trainer, run));
}

std::vector<RunStatus> statuses(const std::vector<SweepResult>& results) {
  std::vector<RunStatus> all;
  for (const SweepResult& result : results) all.push_back(result.status);
  return all;
}

constexpr auto kFinished = RunStatus::finished;
constexpr auto kStopped = RunStatus::stopped;
constexpr auto kFailed = RunStatus::failed;

}  // namespace

TEST_CASE("seed k seeds weights, data and dropout of the run seed-k, and the evaluation stays") {
  Config config = tiny_config();
  config.train.evaluation_seed = 9;
  const std::vector<Setting> settings = seed_settings(config, 3, "folder");
  REQUIRE(settings.size() == 3);
  CHECK(settings[2].path == fs::path("folder/seed-3"));
  CHECK(settings[2].config.train.initialisation_seed == 3);
  CHECK(settings[2].config.train.data_seed == 3);
  CHECK(settings[2].config.train.dropout_seed == 3);
  CHECK(settings[2].config.train.evaluation_seed == 9);
  CHECK(settings[2].config.model == config.model);
  CHECK_THROWS_AS(seed_settings(config, 0, "folder"), UsageError);
}

TEST_CASE("a run of a sweep has the bits of one that is trained alone, however many are trained at once") {
  for (const int jobs : {1, 3}) {
    CAPTURE(jobs);
    const Folder folder;
    const std::vector<Setting> settings = seed_settings(tiny_config(), 4, folder / "sweep");
    CHECK(statuses(run_sweep(settings, jobs)) == std::vector(4, kFinished));
    for (const Setting& setting : settings) {
      const fs::path alone = folder / ("alone-" + setting.path.filename().string());
      train_alone(setting, alone);
      check_same_run(setting.path, alone);
    }
    CHECK(metrics_in(settings[0].path) != metrics_in(settings[1].path));
  }
}

TEST_CASE("a grid's settings are all seeds of every point, each point in its folder") {
  const std::vector<GridPoint> points{{{"model.heads", "1"}}, {{"model.heads", "2"}}};
  const auto config_of = [](std::span<const std::string> overrides) {
    Config config = tiny_config();
    REQUIRE(overrides.size() == 1);
    config.model.heads = overrides[0] == "model.heads=2" ? 2 : 1;
    return config;
  };
  const std::vector<Setting> settings = grid_settings(points, 3, "folder", config_of);
  REQUIRE(settings.size() == 6);
  CHECK(settings[4].path == fs::path("folder/heads=2/seed-2"));
  CHECK(settings[4].config.model.heads == 2);
  CHECK(settings[4].config.train.data_seed == 2);
  CHECK(settings[4].point == points[1]);
  const std::vector<GridPoint> alike{{{"task.file", "a/b"}}, {{"task.file", "a b"}}};
  CHECK(complaint_of([&] { grid_settings(alike, 1, "folder", config_of); }) ==
        "--grid: two settings would have the same folder file=a-b");
  CHECK(complaint_of([&] {
          grid_settings(points, 1, "folder", [](auto) -> Config { throw UsageError("no such width"); });
        }) == "at heads 1 of the grid: no such width");
}

TEST_CASE("the jobs of an array share all runs out, every one to one of them") {
  std::multiset<std::size_t> all;
  for (Index index = 0; index < 3; ++index)
    for (const std::size_t run : array_part(7, index, 3)) all.insert(run);
  CHECK(all == std::multiset<std::size_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(array_part(7, 1, 3) == std::vector<std::size_t>{1, 4});
  CHECK(array_part(2, 4, 5).empty());
  CHECK_THROWS_AS(array_part(7, 3, 3), Error);
}

TEST_CASE("every finished run of a sweep is ablated") {
  const Folder folder;
  const std::vector<Setting> settings = seed_settings(tiny_config(), 1, folder / "sweep");
  run_sweep(settings, 1);
  CHECK(fs::exists(settings[0].path / "ablation.csv"));
  CHECK(standing_result(settings[0]).status == kFinished);
  CHECK(standing_result(seed_settings(tiny_config(), 2, folder / "sweep")[1]).status == kStopped);
}

TEST_CASE("several jobs run at the same time") {
  const Folder folder;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> begun{0};
  const SweepObserver observer{.reached = [&](std::size_t, Index step) {
    if (step > 0) return;
    ++begun;
    // Neither goes on before the other has begun; alone, one would wait for ever, so for a while only.
    for (int i = 0; i < 20000 && begun < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  }};
  CHECK(statuses(run_sweep(seed_settings(tiny_config(), 2, folder / "sweep"), 2, observer)) ==
        std::vector(2, kFinished));
  CHECK(threads.size() == 2);
}

TEST_CASE("a sweep that was stopped goes on where its runs were saved, to the same bits") {
  const Folder folder;
  const std::vector<Setting> settings = seed_settings(tiny_config(), 3, folder / "sweep");
  std::atomic<int> steps{0};
  const SweepObserver stopping{.reached = [&](std::size_t, Index) { ++steps; },
                               .should_stop = [&] { return steps >= 15; }};
  // Eleven calls for the first run, from step 0 to 10; the second stops after step 3, the third never begins.
  CHECK(statuses(run_sweep(settings, 1, stopping)) == std::vector{kFinished, kStopped, kStopped});
  CHECK(fs::exists(settings[1].path / "checkpoints/step-000003.safetensors"));
  CHECK_FALSE(fs::exists(settings[2].path));
  const auto first = fs::last_write_time(settings[0].path / "metrics.csv");

  std::vector<std::vector<Index>> reached(3);
  const SweepObserver following{
      .reached = [&](std::size_t run, Index step) { reached[run].push_back(step); }};
  CHECK(statuses(run_sweep(settings, 1, following)) == std::vector(3, kFinished));
  CHECK(reached[0].empty());
  CHECK(reached[1].front() == 3);
  CHECK(reached[1].back() == 10);
  CHECK(reached[2].front() == 0);
  CHECK(fs::last_write_time(settings[0].path / "metrics.csv") == first);
  for (const Setting& setting : settings) {
    train_alone(setting, folder / ("alone-" + setting.path.filename().string()));
    // A stopped run keeps a checkpoint of where it stopped; all else is the same.
    check_same_run(setting.path, folder / ("alone-" + setting.path.filename().string()));
  }
}

TEST_CASE("a run that was killed as it began, and one without a checkpoint, are trained from the start") {
  const Folder folder;
  const std::vector<Setting> settings = seed_settings(tiny_config(), 2, folder / "sweep");
  fs::create_directories(settings[0].path / "checkpoints");
  put(settings[0].path / ".lock", "1\n");
  RunDirectory::create(settings[1].path, settings[1].config, false);
  CHECK(statuses(run_sweep(settings, 2)) == std::vector(2, kFinished));
}

TEST_CASE("a run of another config in a sweep's place is refused before anything is trained") {
  const Folder folder;
  const std::vector<Setting> settings = seed_settings(tiny_config(), 2, folder / "sweep");
  Config other = settings[1].config;
  other.train.weight_decay = 0.5;
  RunDirectory::create(settings[1].path, other, false);
  CHECK_THROWS_WITH_AS(run_sweep(settings, 2),
                       doctest::Contains("seed-2 holds a run that differs in train.weight_decay, which is "
                                         "0.5 there and 0.01 here"),
                       UsageError);
  CHECK_FALSE(fs::exists(settings[0].path));
}

TEST_CASE("one run that fails does not stop the others, and says why it failed") {
  const Folder folder;
  std::vector<Setting> settings = seed_settings(tiny_config(), 4, folder / "sweep");
  settings[0].config.train.optimizer = "sgd";
  settings[0].config.train.clip = 0;
  settings[0].config.train.learning_rate = 1e30;
  settings[0].config.train.warmup = 0;
  put(folder / "file", "");
  settings[2].path = folder / "file";
  std::set<std::size_t> ended;
  std::mutex mutex;
  const std::vector<SweepResult> results =
      run_sweep(settings, 2, {.ended = [&](std::size_t run, const SweepResult&) {
                  const std::lock_guard lock(mutex);
                  ended.insert(run);
                }});
  CHECK(statuses(results) == std::vector{kFailed, kFinished, kFailed, kFinished});
  CHECK(results[0].failure.find("not finite") != std::string::npos);
  CHECK(results[2].failure.find("is not a run") != std::string::npos);
  CHECK(ended.size() == 4);
}

TEST_CASE("a run is finished by its last checkpoint, if that and its tables are whole") {
  const Folder folder;
  const Setting setting = seed_settings(tiny_config(), 1, folder / "sweep").front();
  CHECK_FALSE(is_finished(setting));
  CHECK(complete_run(setting, 1));
  CHECK(is_finished(setting));
  bool started = false;
  CHECK(complete_run(setting, 1, {}, [&](const Trainer&) { started = true; }));
  CHECK_FALSE(started);

  const fs::path heads = setting.path / "heads.csv";
  fs::rename(heads, folder / "heads.csv");
  CHECK_THROWS_WITH_AS(is_finished(setting), doctest::Contains("heads.csv is missing"), Error);
  fs::rename(folder / "heads.csv", heads);
  const fs::path last = setting.path / "checkpoints/step-000010.safetensors";
  fs::resize_file(last, fs::file_size(last) - 4);
  CHECK_THROWS_AS(is_finished(setting), Error);
  fs::remove(last);
  CHECK_FALSE(is_finished(setting));
  CHECK(complete_run(setting, 1));
}

TEST_CASE("a run that another program writes is not touched") {
  const Folder folder;
  const std::vector<Setting> settings = seed_settings(tiny_config(), 1, folder / "sweep");
  const RunDirectory held = RunDirectory::create(settings[0].path, settings[0].config, false);
  const std::vector<SweepResult> results = run_sweep(settings, 1);
  CHECK(results[0].status == kFailed);
  CHECK(results[0].failure.find("is writing into") != std::string::npos);
}
