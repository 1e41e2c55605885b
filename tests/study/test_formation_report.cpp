#include "tapehead/study/formation_report.h"

#include "support/folder.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// Accuracies at steps 0, 10, 20, ...; losses that fall as they rise.
CsvTable metrics_of(const std::vector<double>& accuracy) {
  CsvTable table({"step", "tokens", "loss", "loss_induction", "loss_noise", "accuracy_induction"});
  for (std::size_t i = 0; i < accuracy.size(); ++i)
    table.add({std::to_string(10 * i), std::to_string(1000 * i), csv_cell(4 - 3 * accuracy[i]),
               csv_cell(4 - 4 * accuracy[i]), "4.3", csv_cell(accuracy[i])});
  return table;
}

CsvTable heads_of(double last) {
  CsvTable table({"step", "layer", "head", "previous_token", "induction"});
  table.add({"0", "0", "0", "0.1", "0.1"});
  table.add({"0", "0", "1", "0.1", "0.1"});
  table.add({"10", "0", "0", "0.1", csv_cell(last)});
  table.add({"10", "0", "1", csv_cell(last), "0.1"});
  return table;
}

const std::vector<double> kForms{0, 0.2, 0.6, 0.95};
const std::vector<double> kNeverForms{0, 0.2, 0.3, 0.3};

}  // namespace

TEST_CASE("a report has what formation, moves and the last evaluation say, and names what it lacks") {
  const FormationReport report = formation_report(metrics_of(kForms), heads_of(0.8));
  CHECK(report.last_step == 30);
  CHECK(report.value("onset") == 10);
  CHECK(report.value("half") == 20);
  CHECK(report.value("done") == 30);
  CHECK(report.value("width") == 20);
  CHECK(report.value("steepest_step") == 20);
  CHECK(*report.value("steepest_per_step") == doctest::Approx(0.0375));
  CHECK(report.value("moved_previous_token") == 10);
  CHECK(report.value("began_induction") == 10);
  CHECK(report.value("moved_loss_induction") == 20);
  CHECK(report.value("first_induction") == 0.1);
  CHECK(report.value("highest_induction") == 0.8);
  CHECK(*report.value("final_accuracy_induction") == 0.95);
  CHECK(report.value("highest_loss_noise") == 4.3);
  CHECK(report.value("hump_height") == 0);
  CHECK(report.has("hump_end"));
  CHECK_FALSE(report.value("hump_end"));
  CHECK(report.left_out == std::vector<std::string>{"k_composition", "copying"});
}

TEST_CASE("a report without head scores has the rest") {
  const FormationReport report = formation_report(metrics_of(kForms), CsvTable({}));
  CHECK(report.value("half") == 20);
  CHECK_FALSE(report.has("moved_induction"));
  CHECK(report.left_out.size() == std::size(kFollowedScores));
  CHECK_THROWS_WITH_AS(formation_report(metrics_of({}), CsvTable({})),
                       doctest::Contains("at least one evaluation"), Error);
}

TEST_CASE("the table has a row a run, steps to the last digit, and an empty cell for what has not happened") {
  CsvTable late({"step", "tokens", "accuracy_induction"});
  late.add({"0", "0", "0"});
  late.add({"1234567", "5", "0.6"});
  const std::vector<FormationReport> reports{formation_report(late, heads_of(0.8)),
                                             formation_report(metrics_of(kNeverForms), heads_of(0.9))};
  const CsvTable table = formation_table(reports, std::vector<std::string>{"a", "b"});
  REQUIRE(table.rows() == 2);
  CHECK(table.cell(0, "run") == "a");
  CHECK(table.cell(0, "step") == "1234567");
  CHECK(table.cell(0, "half") == "1234567");
  CHECK(table.cell(1, "step") == "30");
  CHECK(table.cell(1, "half").empty());
  CHECK(table.cell(1, "highest_induction") == "0.9");
  CHECK(table.cell(1, "head_induction") == "0.0");
  CHECK(table.cell(1, "head_previous_token") == "0.1");
  CHECK_FALSE(table.has("final_loss"));  // which the first run lacks
  CHECK_FALSE(formation_table(reports).has("run"));
}

TEST_CASE("over runs, one that never forms is counted and ranks last") {
  const std::vector<FormationReport> reports{formation_report(metrics_of(kForms), CsvTable({})),
                                             formation_report(metrics_of(kNeverForms), CsvTable({})),
                                             formation_report(metrics_of(kForms), CsvTable({}))};
  for (const MeasureQuartiles& measure : summary_of(reports)) {
    CAPTURE(measure.name);
    const CensoredQuartiles& quartiles = measure.quartiles;
    CHECK(quartiles.runs == 3);
    if (measure.name == "half") {
      CHECK(quartiles.known == 2);
      CHECK(quartiles.median.value == 20);
      CHECK_FALSE(quartiles.upper.value);
      CHECK(quartiles.upper.not_by == 30);
    }
    if (measure.name == "onset") CHECK(quartiles.known == 3);
  }
  CHECK_THROWS_AS(summary_of({}), Error);
}

TEST_CASE("configs that differ in the seeds of training alone count as the same") {
  std::vector<Config> configs(3);
  configs[1].train.initialisation_seed = configs[1].train.data_seed = configs[2].train.dropout_seed = 7;
  CHECK(differing_fields_but_seeds(configs).empty());
  configs[2].train.evaluation_seed = 3;
  configs[1].model.layers = 1;
  CHECK(differing_fields_but_seeds(configs) ==
        std::vector<std::string>{"model.layers", "train.evaluation_seed"});
}

TEST_CASE("a run of a text has no formation to report") {
  const Folder folder;
  Config config;
  config.task.name = "text";
  config.task.file = "text.txt";
  const RunDirectory run = RunDirectory::create(folder / "run", config, false);
  CHECK_THROWS_WITH_AS(formation_report(run), doctest::Contains("the task text"), UsageError);
}
