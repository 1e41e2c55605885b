#include "tapehead/report/figures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "tapehead/base/require.h"
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
#include "tapehead/train/csv.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/run_tables.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

/// Beyond it the arithmetic of axes overflows.
constexpr double kLargest = 1e300;

/// The table, which is in this file. Throws Error for a number that no axis can hold.
CsvTable drawable(CsvTable table, const fs::path& file) {
  for (const std::string& column : table.columns())
    for (Index row = 0; row < table.rows(); ++row) {
      const std::string& cell = table.cell(row, column);
      double value = 0;  // of a cell that is a number
      std::from_chars(cell.data(), cell.data() + cell.size(), value);
      require(!std::isfinite(value) || std::abs(value) <= kLargest,
              "[figures] expected numbers that can be drawn, got {} as {} in row {} of {}", cell, column,
              row + 1, file.string());
    }
  return table;
}

/// The table in a file, or one without rows where there is no file yet.
CsvTable table_in(const fs::path& file) {
  return fs::exists(file) ? drawable(CsvTable::read(file), file) : CsvTable({});
}

CsvTable metrics_of(const RunDirectory& run) { return drawable(whole_metrics(run), run.metrics_file()); }

/// The accuracy without an ablation, on the same sequences, or NaN.
double plain_accuracy(const CsvTable& ablations) {
  return ablations.has("accuracy_plain") ? ablations.number(0, "accuracy_plain") : std::nan("");
}

/// Draws figures one by one, and goes on after one that cannot be drawn.
class Drawing {
 public:
  explicit Drawing(fs::path folder) : folder_(std::move(folder)) {}

  /// `figure_of` gives the figure, or nothing where there are no data yet.
  template <class FigureOf>
  void add(const FigureOf& figure_of) {
    try {
      if (const std::optional<Figure> figure = figure_of())
        for (fs::path& file : draw(*figure, folder_)) drawn_.files.push_back(std::move(file));
    } catch (const Error& error) {
      if (std::ranges::find(drawn_.faults, error.what()) == drawn_.faults.end())
        drawn_.faults.emplace_back(error.what());
    }
  }

  DrawnFigures drawn() && { return std::move(drawn_); }

 private:
  fs::path folder_;
  DrawnFigures drawn_;
};

/// When the run's heads formed, where copying is the task: only there learning it has a beginning and an end.
Formation formation_in(const CsvTable& metrics, const Config& config) {
  return metrics.rows() > 0 && task_kind(config.task.name).repeats ? formation_of(metrics) : Formation{};
}

/// What the training wrote: losses and scores over its steps.
void add_figures_of_training(Drawing& drawing, const RunDirectory& run) {
  const Config& config = run.config();
  drawing.add([&]() -> std::optional<Figure> {
    const CsvTable metrics = metrics_of(run);
    if (metrics.rows() == 0) return std::nullopt;
    return loss_figure(metrics, table_in(run.table_file("floors")), formation_in(metrics, config), config);
  });
  drawing.add([&]() -> std::optional<Figure> {
    const CsvTable heads = drawable(whole_heads(run), run.heads_file());
    if (heads.rows() == 0) return std::nullopt;
    return head_figure(heads, chance_scores(evaluation_batch(config), config.model.vocabulary),
                       formation_in(metrics_of(run), config), config);
  });
}

/// What the last checkpoint's heads look at in one sequence of the evaluation batch.
Figure figure_of_attention(const RunDirectory& run) {
  const Checkpoint checkpoint = latest_run_checkpoint(run);
  const Config& config = checkpoint.config;
  const std::unique_ptr<Task> task = task_of(checkpoint);
  const Batch batch = evaluation_batch(config, *task);
  const Batch sequence = sequence_to_show(batch);
  return attention_figure(checkpoint.model, sequence,
                          token_signs(sequence.inputs, config.model.vocabulary, task->tokenizer().get()),
                          score_heads(checkpoint.model, batch), config, checkpoint.step);
}

/// What was made of a checkpoint later: a figure for each table that has rows.
void add_figures_of_findings(Drawing& drawing, const RunDirectory& run) {
  const Config& config = run.config();
  const auto add = [&](std::string_view name, const auto& figure_of) {
    drawing.add([&]() -> std::optional<Figure> {
      const CsvTable table = table_in(run.table_file(name));
      if (table.rows() == 0) return std::nullopt;
      return figure_of(table);
    });
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

DrawnFigures draw_figures(const RunDirectory& run) {
  Drawing drawing(run.figures_folder());
  add_figures_of_training(drawing, run);
  if (run.config().model.layers > 0 && !run.checkpoint_steps().empty())
    drawing.add([&]() -> std::optional<Figure> { return figure_of_attention(run); });
  add_figures_of_findings(drawing, run);
  return std::move(drawing).drawn();
}

std::vector<fs::path> draw_curves(std::span<const RunDirectory> runs, const fs::path& folder) {
  std::vector<CsvTable> metrics;
  std::vector<Config> configs;
  for (const RunDirectory& run : runs) {
    metrics.push_back(metrics_of(run));
    require(metrics.back().rows() > 0, "[figures] {} holds no evaluation yet", run.metrics_file().string());
    configs.push_back(run.config());
  }
  return draw(curves_figure(metrics, common_floors(runs), configs), folder);
}

}  // namespace tapehead
