#include "tapehead/study/verify.h"

#include <algorithm>

#include "support/folder.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/ablation.h"
#include "tapehead/study/scored_run.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// A finished run with a table of ablations.
RunDirectory finished(const Folder& folder) {
  const Config config = tiny_config();
  RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  CHECK(train_scored_run(trainer, run));
  const Batch batch = evaluation_batch(config);
  const Batch reference = reference_batch(trainer.task(), batch, config.train.evaluation_seed);
  const std::vector<Removal> removals =
      single_removals({AblationKind::zero, AblationKind::resample}, all_components(config.model));
  ablation_table(ablate(trainer.model(), batch, reference, removals).ablations, trainer.step(), batch.size())
      .write(run.table_file("ablation"));
  return run;
}

const Verified& find(const std::vector<Verified>& all, const std::string& what) {
  const auto found = std::ranges::find(all, what, &Verified::what);
  REQUIRE(found != all.end());
  return *found;
}

/// Changes one cell of a table on disk.
void falsify(const std::filesystem::path& file, Index row, const std::string& column) {
  const CsvTable table = CsvTable::read(file);
  CsvTable changed(table.columns());
  for (Index r = 0; r < table.rows(); ++r) {
    std::vector<std::string> cells;
    for (const std::string& name : table.columns())
      cells.push_back(r == row && name == column ? "0.123" : table.cell(r, name));
    changed.add(cells);
  }
  changed.write(file);
}

}  // namespace

TEST_CASE("a run that nobody touched is verified whole, on any number of threads, and not written to") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  const std::string metrics = text_of(run.metrics_file());
  for (const int threads : {1, 3}) {
    const std::vector<Verified> all = verify(run, {.threads = threads});
    for (const char* what : {"metrics.csv", "heads.csv", "ablation.csv", "checkpoints"})
      CHECK(find(all, what).cells > 0);
    for (const Verified& verified : all) CHECK(verified.differences.empty());
  }
  CHECK(text_of(run.metrics_file()) == metrics);
}

TEST_CASE("every falsified number is found where it stands, and nothing else is blamed") {
  for (const auto& [table, column] : {std::pair{"metrics", "loss_noise"},
                                      {"metrics", "gradient_norm"},
                                      {"heads", "induction"},
                                      {"ablation", "high"}}) {
    CAPTURE(table);
    CAPTURE(column);
    const Folder folder;
    const RunDirectory run = finished(folder);
    falsify(run.table_file(table), 2, column);
    const std::vector<Verified> all = verify(run);
    for (const Verified& verified : all) {
      CAPTURE(verified.what);
      CHECK(verified.differences.size() == (verified.what == std::string(table) + ".csv" ? 1 : 0));
    }
    const Difference& difference = find(all, std::string(table) + ".csv").differences[0];
    CHECK(difference.place.starts_with("row 3"));
    CHECK(difference.place.ends_with(column));
    CHECK(difference.stands == "0.123");
  }
}

TEST_CASE("the seconds of a run are a clock's, and not verified") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  falsify(run.metrics_file(), 1, "seconds");
  CHECK(find(verify(run), "metrics.csv").differences.empty());
}

TEST_CASE("a table that this run alone does not give is left out, and said so") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  put(run.table_file("sweep"), "seed,formed\n1,yes\n");
  CHECK(find(verify(run), "sweep.csv").left_out.find("cannot be made from this run alone") !=
        std::string::npos);
}

TEST_CASE("a verification that is given up says so, and tables without a checkpoint are an error") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  CHECK_THROWS_WITH_AS(verify(run, {.should_stop = [] { return true; }}),
                       doctest::Contains("stopped before the end"), Error);
  falsify(run.table_file("ablation"), 0, "step");
  CHECK_THROWS_WITH_AS(verify(run), doctest::Contains("expected a whole number in column step"), Error);
}
