#include "tapehead/interp/remade_table.h"

#include <algorithm>
#include <array>
#include <memory>

#include "tapehead/base/require.h"
#include "tapehead/interp/ablation.h"
#include "tapehead/interp/twin.h"
#include "tapehead/interp/verdict.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

/// What a table was made of: a checkpoint, its task, and so many sequences to evaluate on.
struct Subject {
  const RunDirectory& run;
  const CsvTable& there;
  Checkpoint checkpoint;
  std::unique_ptr<Task> task;
  Index sequences;
  EvaluateOptions options;

  /// The run's evaluation batch of that many sequences.
  Batch batch() const {
    Config config = checkpoint.config;
    config.train.evaluation_sequences = sequences;
    return evaluation_batch(config, *task);
  }
};

Index whole_number(const CsvTable& table, std::string_view column) {
  const double value = table.number(0, column);
  require(value >= 0 && value <= 1e9 && value == static_cast<double>(static_cast<Index>(value)),
          "[verify] expected a whole number in column {}, got {}", column, table.cell(0, column));
  return static_cast<Index>(value);
}

Subject subject_of(const RunDirectory& run, const CsvTable& there, int threads) {
  Checkpoint checkpoint = load_checkpoint(run.checkpoint_file(whole_number(there, "step")));
  std::unique_ptr<Task> task = task_of(checkpoint);
  return {run,
          there,
          std::move(checkpoint),
          std::move(task),
          whole_number(there, "sequences"),
          {.threads = threads}};
}

CsvTable remade_ablation(const Subject& subject) {
  const Transformer& model = subject.checkpoint.model;
  const Batch batch = subject.batch();
  const Evaluation plain = evaluate(model, batch, {}, subject.options);
  return ablation_table(ablate_all_heads(model, batch, plain, subject.options), subject.checkpoint.step,
                        subject.sequences);
}

CsvTable remade_verdict(const Subject& subject) {
  const Config& config = subject.checkpoint.config;
  const std::filesystem::path twin_run = twin_folder(subject.run);
  std::optional<Checkpoint> twin;
  if (subject.there.has("twin") && subject.there.cell(0, "twin") == "yes")
    twin = load_checkpoint(RunDirectory::open(twin_run).latest_checkpoint());
  const Verdict verdict = judge(
      subject.checkpoint.model, *subject.task, evaluation_batch(config, *subject.task),
      twin ? &twin->model : nullptr,
      {.evaluate = subject.options, .sequences = subject.sequences, .seed = config.train.evaluation_seed});
  return verdict_table(verdict, subject.checkpoint.step, subject.sequences);
}

struct Remake {
  std::string_view table;
  CsvTable (*make)(const Subject& subject);
};

constexpr std::array kRemakes{
    Remake{"ablation", remade_ablation},
    Remake{"verdict", remade_verdict},
};

}  // namespace

std::optional<CsvTable> remade_table(const RunDirectory& run, std::string_view name, const CsvTable& there,
                                     int threads) {
  const auto* remake = std::ranges::find(kRemakes, name, &Remake::table);
  if (remake == kRemakes.end()) return std::nullopt;
  require(there.rows() > 0, "[verify] {}.csv has no rows", name);
  return remake->make(subject_of(run, there, threads));
}

}  // namespace tapehead
