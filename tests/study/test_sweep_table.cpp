#include "tapehead/study/sweep_table.h"

#include "support/folder.h"
#include "support/testing.h"
#include "support/training.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("sweep.csv has a row for every run, and of one that failed what is known") {
  const Folder folder;
  const std::vector<Setting> settings = seed_settings(tiny_config(), 3, folder / "sweep");
  // The first forms, the second does not, of the third there is nothing.
  for (std::size_t run = 0; run < 2; ++run) {
    const RunDirectory there = RunDirectory::create(settings[run].path, settings[run].config, false);
    CsvTable metrics({"step", "tokens", "loss", "loss_induction", "loss_noise", "accuracy_induction"});
    metrics.add({"0", "0", "4", "4", "4", "0"});
    metrics.add({"20", "100", "3", "2", "4.5", run == 0 ? "0.75" : "0.25"});
    metrics.write(there.metrics_file());
    if (run == 1) continue;
    CsvTable heads({"step", "layer", "head", "previous_token", "induction"});
    heads.add({"0", "0", "0", "0.1", "0.1"});
    heads.add({"20", "0", "0", "0.2", "0.9"});
    heads.write(there.heads_file());
    CsvTable ablation({"kind", "layer", "head", "change_induction", "step"});
    ablation.add({"zero", "0", "0", "1.5", "20"});
    ablation.add({"zero", "0", "1", "2.5", "20"});
    ablation.add({"zero", "0", "all", "9", "20"});
    ablation.add({"mean", "0", "0", "7", "20"});
    ablation.write(there.table_file("ablation"));
  }
  const std::vector<SweepResult> results{{.status = RunStatus::finished},
                                         {.status = RunStatus::failed, .failure = "not finite"},
                                         {.status = RunStatus::stopped}};
  const auto reports = sweep_reports(settings);
  CHECK_FALSE(reports[2]);
  const CsvTable table = sweep_table(settings, results, reports, folder / "sweep");
  REQUIRE(table.rows() == 3);
  const auto row = [&](Index index) {
    std::string text;
    for (const std::string& column : table.columns()) text += column + "=" + table.cell(index, column) + " ";
    return text;
  };
  CHECK(
      row(0) ==
      "run=seed-1 setting= seed=1 status=finished step=20 formed=1 onset=20 half=20 done= width= "
      "final_loss=3 "
      "final_loss_induction=2 final_loss_noise=4.5 final_accuracy_induction=0.75 highest_previous_token=0.2 "
      "highest_k_composition= highest_copying= highest_induction=0.9 change_without_previous_token=1.5 "
      "change_without_induction=1.5 "
      "largest_change=2.5 ");
  CHECK(row(1) ==
        "run=seed-2 setting= seed=2 status=failed step=20 formed=0 onset=20 half= done= width= final_loss=3 "
        "final_loss_induction=2 final_loss_noise=4.5 final_accuracy_induction=0.25 highest_previous_token= "
        "highest_k_composition= highest_copying= highest_induction= change_without_previous_token= "
        "change_without_induction= largest_change= ");
  CHECK(row(2) ==
        "run=seed-3 setting= seed=3 status=stopped step= formed= onset= half= done= width= final_loss= "
        "final_loss_induction= final_loss_noise= final_accuracy_induction= highest_previous_token= "
        "highest_k_composition= highest_copying= highest_induction= change_without_previous_token= "
        "change_without_induction= largest_change= ");
}

TEST_CASE("where nothing is copied, sweep.csv says nothing of formation") {
  Setting setting{"runs/seed-1", tiny_config()};
  setting.config.task.name = "text";
  CsvTable metrics({"step", "tokens", "loss", "accuracy_induction"});
  metrics.add({"0", "0", "4", "0.75"});
  const std::vector<std::optional<RunReport>> reports{RunReport{formation_report(metrics, CsvTable({})), {}}};
  const std::vector<SweepResult> results{{.status = RunStatus::finished}};
  const CsvTable table = sweep_table({&setting, 1}, results, reports, "runs");
  for (const char* column : {"formed", "onset", "half", "done", "width"})
    CHECK(table.cell(0, column).empty());
  CHECK(table.cell(0, "final_loss") == "4");
}

TEST_CASE("of a grid, sweep.csv has the setting and a column for each field, and runs by their folders") {
  Setting setting{"runs/grid/heads=2_betas=-0.9-0.98-/seed-1", tiny_config()};
  setting.point = {{"model.heads", "2"}, {"train.betas", "[0.9, 0.98]"}};
  const std::vector<std::optional<RunReport>> reports(1);
  const std::vector<SweepResult> results(1);
  const CsvTable table = sweep_table({&setting, 1}, results, reports, "runs/grid");
  CHECK(table.cell(0, "run") == "heads=2_betas=-0.9-0.98-/seed-1");
  CHECK(table.cell(0, "setting") == "model.heads=2 train.betas=[0.9  0.98]");
  CHECK(table.cell(0, "model.heads") == "2");
  CHECK(table.cell(0, "train.betas") == "[0.9  0.98]");
}
