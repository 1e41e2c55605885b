#include "tapehead/report/figures.h"

#include <cmath>
#include <optional>

#include "tapehead/interp/formation.h"
#include "tapehead/interp/head_scores.h"
#include "tapehead/report/ablation_figure.h"
#include "tapehead/report/attention_figure.h"
#include "tapehead/report/curves_figure.h"
#include "tapehead/report/head_figure.h"
#include "tapehead/report/lens_figure.h"
#include "tapehead/report/loss_figure.h"
#include "tapehead/report/patching_figure.h"
#include "tapehead/report/shapley_figure.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

/// The table in a file, or one without rows where there is no file yet.
CsvTable table_in(const fs::path& file) { return fs::exists(file) ? CsvTable::read(file) : CsvTable({}); }

/// The accuracy without an ablation, on the same sequences, or NaN.
double plain_accuracy(const CsvTable& ablations) {
  return ablations.has("accuracy_plain") ? ablations.number(0, "accuracy_plain") : std::nan("");
}

}  // namespace

std::vector<fs::path> draw_figures(const RunDirectory& run) {
  std::vector<fs::path> files;
  const auto add = [&](const Figure& figure) {
    for (fs::path& file : draw(figure, run.figures_folder())) files.push_back(std::move(file));
  };
  const CsvTable metrics = table_in(run.metrics_file());
  const CsvTable heads = table_in(run.heads_file());
  const CsvTable floors = table_in(run.table_file("floors"));
  const CsvTable ablations = table_in(run.table_file("ablation"));
  const Config& config = run.config();
  // Only where copying is the task does learning it have a beginning and an end.
  const bool forms = metrics.rows() > 0 && task_kind(config.task.name).repeats;
  const Formation formation = forms ? formation_of(metrics) : Formation{};
  std::optional<Checkpoint> checkpoint;
  if (config.model.layers > 0 && !run.checkpoint_steps().empty())
    checkpoint.emplace(load_checkpoint(run.latest_checkpoint()));
  const std::unique_ptr<Task> task =
      checkpoint ? task_of(*checkpoint) : make_task(config.task, config.model.vocabulary);
  const Batch batch = evaluation_batch(config, *task);

  if (metrics.rows() > 0) add(loss_figure(metrics, floors, formation, config));
  if (heads.rows() > 0) add(head_figure(heads, chance_scores(batch), formation, config));
  if (checkpoint) {
    const Batch sequence = sequence_to_show(batch);
    add(attention_figure(checkpoint->model, sequence,
                         token_signs(sequence.inputs, config.model.vocabulary, task->tokenizer().get()),
                         score_heads(checkpoint->model, batch), config, checkpoint->step));
  }
  if (ablations.rows() > 0) add(ablation_figure(ablations, plain_accuracy(ablations), config));
  if (const CsvTable patchings = table_in(run.table_file("patching")); patchings.rows() > 0)
    add(patching_figure(patchings, config));
  if (const CsvTable lens = table_in(run.table_file("lens")); lens.rows() > 0) add(lens_figure(lens, config));
  const CsvTable shapley = table_in(run.table_file("shapley"));
  if (shapley.rows() > 0) add(shapley_figure(shapley, table_in(run.table_file("interactions")), config));
  return files;
}

std::vector<fs::path> draw_curves(std::span<const RunDirectory> runs, const fs::path& folder) {
  std::vector<CsvTable> metrics;
  std::vector<Config> configs;
  for (const RunDirectory& run : runs) {
    metrics.push_back(CsvTable::read(run.metrics_file()));
    configs.push_back(run.config());
  }
  return draw(curves_figure(metrics, configs), folder);
}

}  // namespace tapehead
