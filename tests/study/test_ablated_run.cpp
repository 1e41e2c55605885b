#include "tapehead/study/ablated_run.h"

#include "support/finished_run.h"
#include "support/testing.h"
#include "tapehead/train/csv.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("an ablated run has a row for every head, layer and feed-forward output of its last checkpoint") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  ablate_run(run, 2);
  const CsvTable table = CsvTable::read(run.table_file("ablation"));
  CHECK(table.rows() == 2 * (2 + 1 + 1));
  CHECK(table.whole_number(0, "step") == 10);
  CHECK(table.whole_number(0, "sequences") == 9);
  CHECK(table.cell(0, "kind") == "zero");
}

TEST_CASE("a table of the same checkpoint is left as it is, and one of an older is made anew") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  put(run.table_file("ablation"), "kind,layer,head,change_induction,step\nmean,0,0,1,10\n");
  ablate_run(run, 1);
  CHECK(CsvTable::read(run.table_file("ablation")).rows() == 1);
  put(run.table_file("ablation"), "kind,layer,head,change_induction,step\nmean,0,0,1,5\n");
  ablate_run(run, 1);
  CHECK(CsvTable::read(run.table_file("ablation")).rows() == 8);
}

TEST_CASE("changes are those without the heads that score highest, and the largest of any one head") {
  const Folder folder;
  const RunDirectory run = finished_run(folder);
  FormationReport report;
  report.moves = {{.name = "previous_token", .head = "0.1"}, {.name = "induction", .head = "1.0"}};
  CHECK_FALSE(ablation_changes(run, report).largest);
  put(run.table_file("ablation"),
      "kind,layer,head,change_induction,step\nzero,0,0,-0.5,10\nzero,0,1,2,10\nzero,0,all,7,10\n"
      "zero,1,0,0.25,10\nzero,1,1,3,10\nzero,1,feed_forward,8,10\nmean,0,1,9,10\n");
  const AblationChanges changes = ablation_changes(run, report);
  CHECK(changes.without_previous_token == 2);
  CHECK(changes.without_induction == 0.25);
  CHECK(changes.largest == 3);
}

TEST_CASE("a model without layers has no heads to ablate") {
  const Folder folder;
  Config config = tiny_config();
  config.model.layers = 0;
  const RunDirectory run = finished_run(folder, config);
  ablate_run(run, 1);
  CHECK_FALSE(std::filesystem::exists(run.table_file("ablation")));
}
