#include "tapehead/study/sweep_folder.h"

#include <fstream>

#include "support/folder.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// A sweep's folder with these rows of run, status, step, formed and half.
std::filesystem::path sweep_at(const std::filesystem::path& path, const std::string& rows) {
  std::filesystem::create_directories(path);
  std::ofstream(path / "sweep.csv") << "run,status,step,formed,half\n" << rows;
  return path;
}

}  // namespace

TEST_CASE(
    "a sweep's folder tells when its finished runs formed, and that others had not by their last step") {
  const Folder folder;
  const auto path = sweep_at(folder / "wide",
                             "seed-1,finished,2000,1,300\nseed-2,finished,1500,0,\n"
                             "seed-3,failed,70,0,\nseed-4,stopped,,,\n");
  CHECK(SweepFolder::stands_at(path));
  const SweepFolder sweep = SweepFolder::open(path);
  CHECK(sweep.name() == "wide");
  CHECK(SweepFolder::open(path / "").name() == "wide");
  CHECK(SweepFolder::open(path / ".." / "wide" / ".").name() == "wide");
  CHECK(sweep.finished() == 2);
  CHECK(sweep.unfinished() == 2);
  CHECK(sweep.can_form());
  const std::vector<Censored> halves = sweep.halves();
  REQUIRE(halves.size() == 2);
  CHECK(halves[0].value == 300);
  CHECK(halves[0].last_step == 2000);
  CHECK_FALSE(halves[1].value);
  CHECK(halves[1].last_step == 1500);
}

TEST_CASE("a sweep's runs are those of its finished rows") {
  const Folder folder;
  const auto path = sweep_at(folder / "sweep", "a,failed,70,0,\nb,finished,20,1,10\n");
  CHECK_THROWS_WITH_AS(SweepFolder::open(path).runs(), doctest::Contains("is not a run"), UsageError);
  const RunDirectory run = RunDirectory::create(path / "b", tiny_config(), false);
  const std::vector<RunDirectory> runs = SweepFolder::open(path).runs();
  REQUIRE(runs.size() == 1);
  CHECK(runs.front().path() == run.path());
}

TEST_CASE("a task in which nothing is copied forms nothing") {
  const Folder folder;
  CHECK_FALSE(SweepFolder::open(sweep_at(folder / "text", "seed-1,finished,2000,,\n")).can_form());
}

TEST_CASE("what is no sweep, has no finished run or no steps is refused with its name") {
  const Folder folder;
  CHECK_FALSE(SweepFolder::stands_at(folder / "gone"));
  CHECK_THROWS_WITH_AS(SweepFolder::open(folder / "gone"),
                       doctest::Contains("gone is not a sweep: it has no sweep.csv"), UsageError);
  CHECK_THROWS_WITH_AS(SweepFolder::open(sweep_at(folder / "a", "seed-1,stopped,10,0,\n")),
                       doctest::Contains("expected at least one finished run, got none of 1"), Error);
  CHECK_THROWS_WITH_AS(
      SweepFolder::open(sweep_at(folder / "a", "b,finished,9,0,\nb,failed,1,0,\nb,finished,9,0,\n")),
      doctest::Contains("expected each run once, got b again in row 3"), Error);
  for (const char* cells : {"10,1,20", "10,1,2.5", ",1,10", "-10,0,", "1e20,0,", "10,1,-1"}) {
    CAPTURE(cells);
    const SweepFolder sweep =
        SweepFolder::open(sweep_at(folder / "b", std::string("seed-1,finished,") + cells + "\n"));
    CHECK_THROWS_WITH_AS(sweep.halves(), doctest::Contains("expected steps in row 1"), Error);
  }
  std::ofstream(folder / "b" / "sweep.csv") << "run,step\nseed-1,10\n";
  CHECK_THROWS_WITH_AS(SweepFolder::open(folder / "b"), doctest::Contains("status"), Error);
}

TEST_CASE("a grid's runs are grouped by their settings, and of seeds alone all are one group") {
  const Folder folder;
  CHECK(SweepFolder::open(sweep_at(folder / "seeds", "a,finished,20,1,10\nb,finished,20,0,\n"))
            .groups()
            .size() == 1);
  const auto path = folder / "grid";
  std::filesystem::create_directories(path);
  std::ofstream(path / "sweep.csv") << "run,setting,model.heads,train.clip,status,step,formed,half\n"
                                       "a,,1,0.5,finished,20,1,10\nb,,2,0.5,finished,20,0,\n"
                                       "c,,2,0.5,failed,20,0,\nd,,1,0.5,finished,30,0,\n";
  const SweepFolder sweep = SweepFolder::open(path);
  CHECK(sweep.axes() == std::vector<std::string>{"model.heads", "train.clip"});
  REQUIRE(sweep.groups().size() == 2);
  CHECK(sweep.groups()[0].point == GridPoint{{"model.heads", "1"}, {"train.clip", "0.5"}});
  const std::vector<Censored> halves = sweep.halves(sweep.groups()[0].rows);
  REQUIRE(halves.size() == 2);
  CHECK(halves[0].value == 10);
  CHECK(halves[1].last_step == 30);
  CHECK(sweep.groups()[1].rows.size() == 1);
}
