#include "tapehead/report/figures.h"

#include <cmath>
#include <optional>

#include "tapehead/interp/head_scores.h"
#include "tapehead/report/ablation_figure.h"
#include "tapehead/report/attention_figure.h"
#include "tapehead/report/attribution_figure.h"
#include "tapehead/report/composition_figure.h"
#include "tapehead/report/curves_figure.h"
#include "tapehead/report/eigenvalue_figure.h"
#include "tapehead/report/head_figure.h"
#include "tapehead/report/lens_figure.h"
#include "tapehead/report/loss_figure.h"
#include "tapehead/report/patching_figure.h"
#include "tapehead/report/shapley_figure.h"
#include "tapehead/study/formation.h"
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

/// What the training wrote: losses and scores over its steps.
std::vector<Figure> figures_of_training(const RunDirectory& run, const Batch& batch) {
  const Config& config = run.config();
  const CsvTable metrics = table_in(run.metrics_file());
  const CsvTable heads = table_in(run.heads_file());
  // Only where copying is the task does learning it have a beginning and an end.
  const bool forms = metrics.rows() > 0 && task_kind(config.task.name).repeats;
  const Formation formation = forms ? formation_of(metrics) : Formation{};
  std::vector<Figure> figures;
  if (metrics.rows() > 0)
    figures.push_back(loss_figure(metrics, table_in(run.table_file("floors")), formation, config));
  if (heads.rows() > 0)
    figures.push_back(head_figure(heads, chance_scores(batch, config.model.vocabulary), formation, config));
  return figures;
}

/// What the last checkpoint's heads look at in one sequence of the batch.
Figure figure_of_attention(const Checkpoint& checkpoint, const Task& task, const Batch& batch) {
  const Batch sequence = sequence_to_show(batch);
  const Config& config = checkpoint.config;
  return attention_figure(checkpoint.model, sequence,
                          token_signs(sequence.inputs, config.model.vocabulary, task.tokenizer().get()),
                          score_heads(checkpoint.model, batch), config, checkpoint.step);
}

/// What was made of a checkpoint later: a figure for each table that has rows.
std::vector<Figure> figures_of_findings(const RunDirectory& run) {
  const Config& config = run.config();
  std::vector<Figure> figures;
  const auto add = [&](std::string_view name, const auto& figure_of) {
    if (const CsvTable table = table_in(run.table_file(name)); table.rows() > 0)
      figures.push_back(figure_of(table));
  };
  add("ablation",
      [&](const CsvTable& table) { return ablation_figure(table, plain_accuracy(table), config); });
  add("shapley", [&](const CsvTable& table) {
    return shapley_figure(table, table_in(run.table_file("interactions")), config);
  });
  add("patching", [&](const CsvTable& table) { return patching_figure(table, config); });
  add("composition", [&](const CsvTable& table) { return composition_figure(table, config); });
  add("eigenvalues", [&](const CsvTable& table) { return eigenvalue_figure(table, config); });
  add("attribution", [&](const CsvTable& table) { return attribution_figure(table, config); });
  add("lens", [&](const CsvTable& table) { return lens_figure(table, config); });
  return figures;
}

}  // namespace

std::vector<fs::path> draw_figures(const RunDirectory& run) {
  const Config& config = run.config();
  std::optional<Checkpoint> checkpoint;
  if (config.model.layers > 0 && !run.checkpoint_steps().empty())
    checkpoint.emplace(load_checkpoint(run.latest_checkpoint()));
  const std::unique_ptr<Task> task =
      checkpoint ? task_of(*checkpoint) : make_task(config.task, config.model.vocabulary);
  const Batch batch = evaluation_batch(config, *task);

  std::vector<fs::path> files;
  const auto draw_one = [&](const Figure& figure) {
    for (fs::path& file : draw(figure, run.figures_folder())) files.push_back(std::move(file));
  };
  for (const Figure& figure : figures_of_training(run, batch)) draw_one(figure);
  if (checkpoint) draw_one(figure_of_attention(*checkpoint, *task, batch));
  for (const Figure& figure : figures_of_findings(run)) draw_one(figure);
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
