#include "tapehead/study/sound_table.h"

#include "support/finished_run.h"
#include "support/folder.h"
#include "tapehead/base/require.h"
#include "tapehead/study/evidence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// The file of a table with `now` in place of its first `stands`.
void falsify(const RunDirectory& run, std::string_view name, const std::string& stands,
             const std::string& now) {
  std::string text = text_of(run.table_file(name));
  const std::size_t at = text.find(stands);
  REQUIRE(at != std::string::npos);
  put(run.table_file(name), text.replace(at, stands.size(), now));
}

}  // namespace

TEST_CASE("a table that nobody touched is sound, and one that is not there yet has no rows") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  for (const std::string_view name : kTablesOfTraining)
    CHECK(sound_table(run, name) == CsvTable::read(run.table_file(name)));
  CHECK(sound_table(run, "ablation").rows() == 0);
  verdict_table({Mechanism::none, {{.name = "learnt", .periods = {4, 5}, .heads = {"1.0", "1.1"}}}}, 10, 16)
      .write(run.table_file("verdict"));
  CHECK(sound_table(run, "verdict").rows() == 1);
}

TEST_CASE("a cell that is no number, in a column of numbers, is an error that names its place") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  const std::string loss = CsvTable::read(run.metrics_file()).cell(0, "loss");
  falsify(run, "metrics", "," + loss + ",", ",abc" + loss + ",");
  CHECK_THROWS_WITH_AS(
      sound_table(run, "metrics"),
      doctest::Contains(("expected a number in column loss of row 1, got \"abc" + loss + "\"").c_str()),
      Error);
  falsify(run, "floors", "chance,", "chance,x");
  CHECK_THROWS_WITH_AS(sound_table(run, "floors"), doctest::Contains("column loss of row 1"), Error);
}

TEST_CASE("a head that the model has not, another header and rows that are gone are errors") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  const std::string heads = text_of(run.heads_file());
  falsify(run, "heads", "\n0,0,0,", "\n0,99,0,");
  CHECK_THROWS_WITH_AS(sound_table(run, "heads"),
                       doctest::Contains("expected a layer that the model has in row 1, got 99"), Error);
  put(run.heads_file(), heads);
  falsify(run, "heads", "previous_token", "earlier_token");
  CHECK_THROWS_WITH_AS(sound_table(run, "heads"), doctest::Contains("expected the columns step,layer,head"),
                       Error);
  const std::string metrics = text_of(run.metrics_file());
  put(run.metrics_file(), metrics.substr(0, metrics.rfind("\n10,") + 1));
  CHECK_THROWS_WITH_AS(sound_table(run, "metrics"), doctest::Contains("those of step 10 are missing"), Error);
  put(run.table_file("ablation"), "kind,layer\nzero,0\n");
  CHECK_THROWS_WITH_AS(sound_table(run, "ablation"),
                       doctest::Contains("expected the columns kind,layer,head"), Error);
}
