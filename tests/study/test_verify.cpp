#include "tapehead/study/verify.h"

#include <algorithm>

#include "support/folder.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/ablation.h"
#include "tapehead/interp/context_score.h"
#include "tapehead/study/scored_run.h"
#include "tapehead/train/fork.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// A finished run with tables of ablations and of in-context learning.
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
  ContextOptions options = context_options(config.task.length, {}, {}, 0.05);
  options.sequences = 5;
  context_table(context_of_run(run, run.checkpoint_steps(), options, {}), config.task.length, options)
      .write(run.table_file("context"));
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
    for (const char* what : {"metrics.csv", "heads.csv", "ablation.csv", "context.csv", "checkpoints"})
      CHECK(find(all, what).cells > 0);
    for (const Verified& verified : all) CHECK(verified.differences.empty());
  }
  CHECK(text_of(run.metrics_file()) == metrics);
}

TEST_CASE("every falsified number is found where it stands, and nothing else is blamed") {
  using Cell = std::pair<std::string, std::string>;
  for (const Cell& cell : {Cell{"metrics", "loss_noise"},
                           {"metrics", "gradient_norm"},
                           {"heads", "induction"},
                           {"ablation", "high"},
                           {"context", "slope"}}) {
    const std::string& table = cell.first;
    const std::string& column = cell.second;
    CAPTURE(table);
    CAPTURE(column);
    const Folder folder;
    const RunDirectory run = finished(folder);
    falsify(run.table_file(table), 2, column);
    const std::vector<Verified> all = verify(run);
    for (const Verified& verified : all) {
      CAPTURE(verified.what);
      CHECK(verified.differences.size() == (verified.what == table + ".csv" ? 1 : 0));
    }
    const Difference& difference = find(all, table + ".csv").differences[0];
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

TEST_CASE("a table that cannot be made again is a difference, and the others are verified") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  falsify(run.table_file("ablation"), 0, "step");
  put(run.table_file("lens"), "layer,step,sequences\n0,7,8\n");
  const std::vector<Verified> all = verify(run);
  CHECK(find(all, "metrics.csv").differences.empty());
  for (const auto& [what, error] :
       {std::pair{"ablation.csv", "expected a whole number in column step"}, {"lens.csv", "step-000007"}}) {
    CHECK(find(all, what).differences.empty());
    CHECK(find(all, what).failure.find(error) != std::string::npos);
  }
}

TEST_CASE("a step or a period that is no whole number is told of its row, wherever it stands") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  put(run.table_file("context"), "step,early,late,spread,sequences\n0,1,2,0.1,4\n1e300,1,2,0.1,4\n");
  put(run.table_file("scores"), "step,period,sequences\n0,2,4\n0,,4\n");
  const std::vector<Verified> all = verify(run);
  CHECK(find(all, "context.csv").failure.find("expected a whole number in column step of row 2") !=
        std::string::npos);
  CHECK(find(all, "scores.csv").failure.find("expected a whole number in column period of row 2") !=
        std::string::npos);
}

TEST_CASE("a table without rows does not say of what it was made, and is left out") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  put(run.table_file("composition"), "kind,score,step,sequences\n");
  const Verified verified = find(verify(run), "composition.csv");
  CHECK(verified.differences.empty());
  CHECK(verified.left_out.starts_with("it has no rows"));
  put(run.table_file("formation"), "step\n");
  CHECK_FALSE(find(verify(run), "formation.csv").differences.empty());
}

TEST_CASE("a checkpoint or a table that cannot be read is named, and holds up nothing else") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  put(run.checkpoint_file(5), "damaged");
  put(run.metrics_file(), "step,tok");
  const std::vector<Verified> all = verify(run);
  const Verified checkpoints = find(all, "checkpoints");
  REQUIRE(checkpoints.differences.size() == 1);
  CHECK(checkpoints.differences[0].place == "step 5");
  CHECK(checkpoints.differences[0].stands.find(run.checkpoint_file(5).string()) != std::string::npos);
  const Verified metrics = find(all, "metrics.csv");
  CHECK(metrics.differences.empty());
  CHECK(metrics.failure.find(run.metrics_file().string()) != std::string::npos);
  CHECK(find(all, "heads.csv").differences.empty());
  CHECK(find(all, "heads.csv").cells > 0);
}

TEST_CASE("a step after the run's end is a number that does not come out") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  const CsvTable whole = CsvTable::read(run.metrics_file());
  for (const char* step : {"1000", "1e300", ""}) {
    CAPTURE(step);
    CsvTable metrics = whole;
    std::vector<std::string> last;
    for (const std::string& column : metrics.columns())
      last.push_back(column == "step" ? step : metrics.cell(metrics.rows() - 1, column));
    metrics.drop_above("step", 9);
    metrics.add(last);
    metrics.write(run.metrics_file());
    const Verified verified = find(verify(run), "metrics.csv");
    REQUIRE(verified.differences.size() == 1);
    CHECK(verified.differences[0].stands == step);
  }
}

TEST_CASE("what a fork has from its parent is left out, and said so, and all after it is verified") {
  const Folder folder;
  const RunDirectory child = fork_run(finished(folder), 5, {}, folder / "child");
  {
    Trainer trainer = resume_scored_run(child, 1);
    CHECK(train_scored_run(trainer, child));
  }
  const CsvTable metrics = CsvTable::read(child.metrics_file());
  const std::vector<Verified> all = verify(child);
  // All columns but the seconds, those of the parent compared with the parent's.
  CHECK(find(all, "metrics.csv").cells == metrics.rows() * static_cast<Index>(metrics.columns().size() - 1));
  CHECK(find(all, "checkpoints").cells == 1);
  for (const char* what : {"metrics.csv", "heads.csv", "checkpoints"}) {
    CHECK(find(all, what).differences.empty());
    CHECK(find(all, what).left_out.find("step 5: its parent's") != std::string::npos);
  }
  falsify(child.metrics_file(), metrics.rows() - 1, "loss");
  CHECK(find(verify(child), "metrics.csv").differences.size() == 1);
  falsify(child.metrics_file(), 1, "loss_noise");
  CHECK(find(verify(child), "metrics.csv").differences.size() == 2);
  std::filesystem::remove_all(child.path() / child.parent()->path);
  CHECK(find(verify(child), "metrics.csv").differences.size() == 1);
}

TEST_CASE(
    "a run that was killed between two tables, or before its first update, is verified as far as it is") {
  Config config = tiny_config();
  config.train.evaluation_interval = 1;
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  Trainer trainer(config, 1);
  CHECK_FALSE(train_scored_run(trainer, run, {.should_stop = [&] { return trainer.step() == 8; }}));
  std::filesystem::remove(run.checkpoint_file(8));
  const auto cut = [&](const char* name, double step) {
    CsvTable table = CsvTable::read(run.table_file(name));
    table.drop_above("step", step);
    table.write(run.table_file(name));
  };
  const auto check = [&] {
    for (const Verified& verified : verify(run)) {
      CAPTURE(verified.what);
      CHECK(verified.differences.empty());
      CHECK(verified.left_out.empty());
    }
  };
  cut("heads", 7);
  check();
  // Rows up to a checkpoint have to be there.
  cut("heads", 4);
  CHECK_FALSE(find(verify(run), "heads.csv").differences.empty());
  std::filesystem::remove(run.checkpoint_file(5));
  cut("heads", 0);
  cut("metrics", 0);
  check();
}

TEST_CASE("a table of the training that is not there is said to be missing") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  std::filesystem::remove(run.heads_file());
  REQUIRE(find(verify(run), "heads.csv").differences.size() == 1);
  CHECK(find(verify(run), "heads.csv").differences[0].stands == "nothing");
}

TEST_CASE("checkpoints that the config asks for and that are not there are named") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  std::filesystem::remove(run.checkpoint_file(5));
  std::filesystem::remove(run.checkpoint_file(10));
  const Verified verified = find(verify(run), "checkpoints");
  CHECK(verified.differences.empty());
  CHECK(verified.left_out == "not there, as they should be: step 5, 10");
}

TEST_CASE("a run into which another program writes is not verified") {
  const Folder folder;
  const std::filesystem::path path = finished(folder).path();
  const RunDirectory writer = RunDirectory::open_for_writing(path);
  CHECK_THROWS_WITH_AS(verify(RunDirectory::open(path)), doctest::Contains("is writing into"), UsageError);
}

TEST_CASE("a verification that is given up says so") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  CHECK_THROWS_WITH_AS(verify(run, {.should_stop = [] { return true; }}),
                       doctest::Contains("stopped before the end"), Error);
}
