#include "tapehead/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tapehead/base/nearest.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/head_scores.h"
#include "tapehead/report/ablation_figure.h"
#include "tapehead/report/attention_figure.h"
#include "tapehead/report/attribution_figure.h"
#include "tapehead/report/composition_figure.h"
#include "tapehead/report/context_figure.h"
#include "tapehead/report/curves_figure.h"
#include "tapehead/report/drawable_table.h"
#include "tapehead/report/eigenvalue_figure.h"
#include "tapehead/report/head_figure.h"
#include "tapehead/report/lens_figure.h"
#include "tapehead/report/loss_figure.h"
#include "tapehead/report/patching_figure.h"
#include "tapehead/report/shapley_figure.h"
#include "tapehead/study/formation.h"
#include "tapehead/study/sound_table.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/run_tables.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

/// The table in a file, or one without rows where there is no file yet.
CsvTable table_in(const fs::path& file) {
  return fs::exists(file) ? drawable(CsvTable::read(file)) : CsvTable({});
}

/// The accuracy without an ablation, on the same sequences, or NaN.
double plain_accuracy(const CsvTable& ablations) {
  return ablations.has("accuracy_plain") ? ablations.number(0, "accuracy_plain") : std::nan("");
}

/// Draws figures one by one, those that are asked for, and goes on after one that cannot be drawn.
class Drawing {
 public:
  Drawing(const RunDirectory& run, const FigureOptions& options) : run_(run), options_(options) {}

  /// `figure_of` gives the figure in this size, or nothing where there are no data yet.
  template <class FigureOf>
  void add(std::string_view name, const FigureOf& figure_of) {
    const bool is_named = std::ranges::find(options_.only, name) != options_.only.end();
    if (!options_.only.empty() && !is_named) return;
    try {
      const std::optional<Figure> figure = figure_of(options_.size);
      if (!figure && !is_named) return;
      require(figure.has_value(), "[figures] {} has no data for the figure {} yet; tapehead {} makes them",
              run_.path().string(), name,
              std::ranges::find(kFiguresOfRun, name, &FigureOfRun::name)->command);
      for (fs::path& file : draw(*figure, run_.figures_folder(), options_.formats))
        drawn_.files.push_back(std::move(file));
    } catch (const Error& error) {
      if (std::ranges::find(drawn_.faults, error.what()) == drawn_.faults.end())
        drawn_.faults.emplace_back(error.what());
    }
  }

  DrawnFigures drawn() && { return std::move(drawn_); }

 private:
  const RunDirectory& run_;
  const FigureOptions& options_;
  DrawnFigures drawn_;
};

/// When the run's heads formed, where copying is the task: only there learning it has a beginning and an end.
Formation formation_in(const CsvTable& metrics, const Config& config) {
  return metrics.rows() > 0 && task_kind(config.task.name).repeats ? formation_of(metrics) : Formation{};
}

/// What the training wrote: losses and scores over its steps.
void add_figures_of_training(Drawing& drawing, const RunDirectory& run) {
  const Config& config = run.config();
  drawing.add("loss", [&](const FigureSize& size) -> std::optional<Figure> {
    const CsvTable metrics = drawable_metrics(run);
    if (metrics.rows() == 0) return std::nullopt;
    return loss_figure(metrics, table_in(run.table_file("floors")), formation_in(metrics, config), config,
                       size);
  });
  drawing.add("heads", [&](const FigureSize& size) -> std::optional<Figure> {
    const CsvTable heads = drawable(whole_heads(run));
    if (heads.rows() == 0) return std::nullopt;
    return head_figure(heads, chance_scores(evaluation_batch(config), config.model.vocabulary),
                       formation_in(drawable_metrics(run), config), config, size);
  });
}

/// What the last checkpoint's heads look at in one sequence of the evaluation batch.
std::optional<Figure> figure_of_attention(const RunDirectory& run, const FigureSize& size) {
  if (run.config().model.layers == 0 || run.checkpoint_steps().empty()) return std::nullopt;
  const Checkpoint checkpoint = latest_run_checkpoint(run);
  const Config& config = checkpoint.config;
  const std::unique_ptr<Task> task = task_of(checkpoint);
  const Batch batch = evaluation_batch(config, *task);
  ShownSequence shown{sequence_to_show(batch), {}, {}};
  const Index length = shown.sequence.length();
  shown.signs = token_signs(shown.sequence.inputs, config.model.vocabulary, task->tokenizer().get());
  shown.where = fmt::format("sequence {} of the evaluation batch", number_to_show(batch));
  if (length < batch.length())
    shown.where += fmt::format(", its first {} of {} positions", length, batch.length());
  return attention_figure(checkpoint.model, shown, score_heads(checkpoint.model, batch),
                          chance_scores(batch, config.model.vocabulary), config, checkpoint.step, size);
}

/// What was made of a checkpoint later: a figure for each table that has rows.
void add_figures_of_findings(Drawing& drawing, const RunDirectory& run) {
  const Config& config = run.config();
  const auto add = [&](std::string_view name, const auto& figure_of) {
    drawing.add(name, [&](const FigureSize& size) -> std::optional<Figure> {
      const CsvTable table = drawable(sound_table(run, name));
      if (table.rows() == 0) return std::nullopt;
      return figure_of(table, size);
    });
  };
  add("ablation", [&](const CsvTable& table, const FigureSize& size) {
    return ablation_figure(table, plain_accuracy(table), config, size);
  });
  add("shapley", [&](const CsvTable& table, const FigureSize& size) {
    return shapley_figure(table, table_in(run.table_file("interactions")), config, size);
  });
  add("patching",
      [&](const CsvTable& table, const FigureSize& size) { return patching_figure(table, config, size); });
  add("composition",
      [&](const CsvTable& table, const FigureSize& size) { return composition_figure(table, config, size); });
  add("eigenvalues",
      [&](const CsvTable& table, const FigureSize& size) { return eigenvalue_figure(table, config, size); });
  add("attribution",
      [&](const CsvTable& table, const FigureSize& size) { return attribution_figure(table, config, size); });
  add("lens",
      [&](const CsvTable& table, const FigureSize& size) { return lens_figure(table, config, size); });
  add("context",
      [&](const CsvTable& table, const FigureSize& size) { return context_figure(table, config, size); });
}

/// The floors that the runs share, or none.
CsvTable common_floors(std::span<const RunDirectory> runs) {
  const auto floors_of = [](const RunDirectory& run) { return table_in(run.table_file("floors")); };
  const CsvTable floors = floors_of(runs.front());
  const bool is_common =
      std::ranges::all_of(runs, [&](const RunDirectory& run) { return floors_of(run) == floors; });
  return is_common ? floors : CsvTable({});
}

}  // namespace

void require_figure_names(const std::vector<std::string>& names, std::span<const std::string_view> known,
                          std::string_view of) {
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw UsageError(fmt::format("[figures] no figure '{}' of {}; the nearest is {}, and there {} {}", name,
                                   of, nearest(name, known), known.size() == 1 ? "is" : "are",
                                   fmt::join(known, ", ")));
}

void require_figure_names(const std::vector<std::string>& names, std::size_t runs) {
  std::vector<std::string_view> known;
  for (const FigureOfRun& figure : kFiguresOfRun) known.push_back(figure.name);
  if (runs > 1) known = {kFigureOfRuns};
  require_figure_names(names, known, runs > 1 ? "several runs" : "one run");
}

DrawnFigures draw_figures(const RunDirectory& run, const FigureOptions& options) {
  require_figure_names(options.only, 1);
  Drawing drawing(run, options);
  add_figures_of_training(drawing, run);
  // Where the model holds no patterns, who asks for them by name is told why there are none.
  const bool named = std::ranges::find(options.only, "attention") != options.only.end();
  if (named || holds_patterns(run.config().model))
    drawing.add("attention", [&](const FigureSize& size) { return figure_of_attention(run, size); });
  add_figures_of_findings(drawing, run);
  return std::move(drawing).drawn();
}

std::vector<fs::path> draw_curves(std::span<const RunDirectory> runs, const fs::path& folder,
                                  const FigureOptions& options) {
  require_figure_names(options.only, 2);
  std::vector<CsvTable> metrics;
  std::vector<Config> configs;
  for (const RunDirectory& run : runs) {
    metrics.push_back(drawable_metrics(run));
    require(metrics.back().rows() > 0, "[figures] {} holds no evaluation yet", run.metrics_file().string());
    configs.push_back(run.config());
  }
  return draw(curves_figure(metrics, common_floors(runs), configs, options.size), folder, options.formats);
}

}  // namespace tapehead
