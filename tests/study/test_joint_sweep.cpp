#include "tapehead/study/joint_sweep.h"

#include <atomic>
#include <mutex>
#include <set>

#include "support/folder.h"
#include "support/ranks.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;
namespace fs = std::filesystem;

namespace {

std::string last_checkpoint(const Setting& setting) {
  return text_of(setting.path / "checkpoints/step-000010.safetensors");
}

}  // namespace

TEST_CASE("ranks share out a sweep's runs, each of which has the bits of one that one process trained") {
  const Folder folder;
  const std::vector<Setting> alone = seed_settings(tiny_config(), 5, folder / "alone");
  run_sweep(alone, 1);
  const std::vector<Setting> settings = seed_settings(tiny_config(), 5, folder / "joint");
  std::multiset<std::size_t> ended;
  check_on_ranks(3, [&](Ranks& ranks) {
    const SweepObserver observer{.ended = [&](std::size_t run, const SweepResult&) { ended.insert(run); }};
    const auto results = run_joint_sweep(settings, ranks, ranks.leads() ? observer : SweepObserver{});
    CHECK(results.size() == (ranks.leads() ? 5u : 0u));
    for (const SweepResult& result : results) CHECK(result.status == RunStatus::finished);
  });
  CHECK(ended == std::multiset<std::size_t>{0, 1, 2, 3, 4});
  for (std::size_t run = 0; run < settings.size(); ++run)
    CHECK(last_checkpoint(settings[run]) == last_checkpoint(alone[run]));
}

TEST_CASE("more ranks than runs, and a rank that has finished runs, end all the same") {
  const Folder folder;
  const std::vector<Setting> settings = seed_settings(tiny_config(), 2, folder / "sweep");
  for (int time = 0; time < 2; ++time)
    check_on_ranks(4, [&](Ranks& ranks) {
      for (const SweepResult& result : run_joint_sweep(settings, ranks))
        CHECK(result.status == RunStatus::finished);
    });
}

TEST_CASE("a run that fails on another rank is known to rank 0 in its words, and the others go on") {
  const Folder folder;
  const std::vector<Setting> settings = seed_settings(tiny_config(), 3, folder / "sweep");
  fs::create_directories(folder / "sweep");
  put(settings[1].path, "mine");
  check_on_ranks(2, [&](Ranks& ranks) {
    const std::vector<SweepResult> results = run_joint_sweep(settings, ranks);
    if (!ranks.leads()) return;
    CHECK(results.at(0).status == RunStatus::finished);
    CHECK(results.at(1).status == RunStatus::failed);
    CHECK(results.at(1).failure.find("seed-2 exists and is not a run") != std::string::npos);
    CHECK(results.at(2).status == RunStatus::finished);
  });
}

TEST_CASE("a rank that is to stop saves its run and leaves the rest to the others") {
  const Folder folder;
  const std::vector<Setting> settings = seed_settings(tiny_config(), 3, folder / "sweep");
  check_on_ranks(2, [&](Ranks& ranks) {
    const SweepObserver observer{.should_stop = [&] { return !ranks.leads(); }};
    const std::vector<SweepResult> results = run_joint_sweep(settings, ranks, observer);
    for (const SweepResult& result : results) CHECK(result.status == RunStatus::finished);
  });
  const std::vector<Setting> stopped = seed_settings(tiny_config(), 3, folder / "stopped");
  check_on_ranks(2, [&](Ranks& ranks) {
    const SweepObserver observer{.should_stop = [] { return true; }};
    for (const SweepResult& result : run_joint_sweep(stopped, ranks, observer))
      CHECK(result.status == RunStatus::stopped);
  });
}

TEST_CASE("a rank with other settings is refused by all in the same words") {
  const Folder folder;
  const std::vector<std::string> complaints = on_ranks(3, [&](Ranks& ranks) {
    require_same_sweep(seed_settings(tiny_config(), ranks.rank() == 1 ? 4 : 3, folder / "sweep"), ranks);
  });
  for (const std::string& complaint : complaints)
    CHECK(
        complaint ==
        "[ranks] rank 1 on here has other settings than rank 0; give every rank the same program, config and "
        "data");
  CHECK_FALSE(fs::exists(folder / "sweep"));
}
