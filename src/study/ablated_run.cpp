#include "tapehead/study/ablated_run.h"

#include <cmath>

#include "tapehead/interp/ablation.h"
#include "tapehead/study/formation_order.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

bool is_ablated(const fs::path& file, Index step) {
  if (!fs::exists(file)) return false;
  const CsvTable table = CsvTable::read(file);
  return table.rows() > 0 && table.whole_number(0, "step") == step;
}

/// The head, "0.1", in which a score was followed; empty where it was not.
std::string followed_head(const FormationReport& report, std::string_view score) {
  for (const Move& move : report.moves)
    if (move.name == score) return move.head;
  return {};
}

}  // namespace

void ablate_run(const RunDirectory& run, int threads) {
  const fs::path file = run.table_file("ablation");
  if (run.config().model.layers == 0 || is_ablated(file, run.latest_step())) return;
  const Checkpoint checkpoint = latest_run_checkpoint(run);
  const std::unique_ptr<Task> task = task_of(checkpoint);
  const Batch batch = evaluation_batch(checkpoint.config, *task);
  const Batch reference = reference_batch(*task, batch, checkpoint.config.train.evaluation_seed);
  const std::vector<Removal> removals =
      single_removals({AblationKind::zero}, all_components(checkpoint.model.config()));
  const AblationStudy study = ablate(checkpoint.model, batch, reference, removals, {.threads = threads});
  ablation_table(study.ablations, checkpoint.step, batch.size()).write(file);
}

AblationChanges ablation_changes(const RunDirectory& run, const FormationReport& report) {
  AblationChanges changes;
  const fs::path file = run.table_file("ablation");
  if (!fs::exists(file)) return changes;
  const CsvTable table = CsvTable::read(file);
  const std::string previous_token = followed_head(report, "previous_token");
  const std::string induction = followed_head(report, "induction");
  for (Index row = 0; row < table.rows(); ++row) {
    const std::string& head = table.cell(row, "head");
    if (table.cell(row, "kind") != "zero" || !number_in(head)) continue;
    const double change = table.number(row, "change_induction");
    if (std::isnan(change)) continue;  // nothing in this task can be copied
    const std::string name = table.cell(row, "layer") + "." + head;
    if (name == previous_token) changes.without_previous_token = change;
    if (name == induction) changes.without_induction = change;
    changes.largest = std::max(change, changes.largest.value_or(change));
  }
  return changes;
}

}  // namespace tapehead
