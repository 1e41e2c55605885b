#include "tapehead/study/remade_table.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "tapehead/base/require.h"
#include "tapehead/interp/ablation.h"
#include "tapehead/interp/attribution.h"
#include "tapehead/interp/circuit_tables.h"
#include "tapehead/interp/context_score.h"
#include "tapehead/interp/lens.h"
#include "tapehead/interp/patching.h"
#include "tapehead/interp/period_scores.h"
#include "tapehead/interp/subsets.h"
#include "tapehead/study/formation_report.h"
#include "tapehead/study/twin.h"
#include "tapehead/study/verdict.h"
#include "tapehead/train/run_checkpoint.h"
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

Index whole_number(const CsvTable& table, std::string_view column, Index row = 0) {
  constexpr Index kLargest = 1'000'000'000;  // beyond, there is no room for so many
  const Index value = table.whole_number(row, column);
  require(value <= kLargest, "[verify] expected at most {} in column {} of row {}, got {}", kLargest, column,
          row + 1, value);
  return value;
}

Subject subject_of(const RunDirectory& run, const CsvTable& there, int threads) {
  Checkpoint checkpoint = run_checkpoint(run, whole_number(there, "step"));
  std::unique_ptr<Task> task = task_of(checkpoint);
  return {run,
          there,
          std::move(checkpoint),
          std::move(task),
          whole_number(there, "sequences"),
          {.threads = threads}};
}

/// The kinds of ablation in the table, in their order there.
std::vector<AblationKind> kinds_of(const CsvTable& there) {
  std::vector<AblationKind> kinds;
  for (Index row = 0; row < there.rows(); ++row) {
    const auto* kind = std::ranges::find(kAblationKinds, there.cell(row, "kind"), &AblationDefinition::name);
    require(kind != kAblationKinds.end(), "[verify] no kind of ablation {}", there.cell(row, "kind"));
    if (std::ranges::find(kinds, kind->kind) == kinds.end()) kinds.push_back(kind->kind);
  }
  return kinds;
}

Batch reference_of(const Subject& subject, const Batch& batch) {
  return reference_batch(*subject.task, batch, subject.checkpoint.config.train.evaluation_seed);
}

CsvTable remade_ablation(const Subject& subject) {
  const Transformer& model = subject.checkpoint.model;
  const Batch batch = subject.batch();
  const std::vector<Removal> removals =
      single_removals(kinds_of(subject.there), all_components(model.config()));
  const AblationStudy study = ablate(model, batch, reference_of(subject, batch), removals, subject.options);
  return ablation_table(study.ablations, subject.checkpoint.step, subject.sequences);
}

std::vector<LayerSubsets> subsets_of(const Subject& subject) {
  const Transformer& model = subject.checkpoint.model;
  const Batch batch = subject.batch();
  std::vector<Index> layers(static_cast<std::size_t>(model.config().layers));
  std::iota(layers.begin(), layers.end(), 0);
  std::vector<LayerSubsets> all;
  for (const AblationKind kind : kinds_of(subject.there))
    for (LayerSubsets& layer :
         ablate_subsets(model, batch, reference_of(subject, batch), kind, layers, subject.options))
      all.push_back(std::move(layer));
  return all;
}

CsvTable remade_subsets(const Subject& subject) {
  return subsets_table(subsets_of(subject), subject.checkpoint.step, subject.sequences);
}
CsvTable remade_shapley(const Subject& subject) {
  return shapley_table(subsets_of(subject), subject.checkpoint.step, subject.sequences);
}
CsvTable remade_interactions(const Subject& subject) {
  return interactions_table(subsets_of(subject), subject.checkpoint.step, subject.sequences);
}

CsvTable remade_patching(const Subject& subject) {
  const Config& config = subject.checkpoint.config;
  std::optional<Index> sequence;
  if (!subject.there.cell(0, "sequence").empty()) sequence = whole_number(subject.there, "sequence");
  const PatchingPairs pairs = patching_pairs(*subject.task, evaluation_batch(config, *subject.task), sequence,
                                             subject.sequences, config.train.evaluation_seed);
  std::vector<Patching> patchings;
  for (const PatchingGrid& grid : grids_of(subject.there, config.model))
    patchings.push_back(patch(subject.checkpoint.model, pairs, grid, subject.options));
  return patching_table(patchings, pairs, subject.checkpoint.step);
}

CsvTable remade_lens(const Subject& subject) {
  return lens_table(lens(subject.checkpoint.model, subject.batch(), subject.options),
                    subject.checkpoint.step);
}

/// Of every checkpoint that the table tells of.
CsvTable remade_context(const Subject& subject) {
  std::vector<Index> steps;
  for (Index row = 0; row < subject.there.rows(); ++row)
    if (const Index step = whole_number(subject.there, "step", row); steps.empty() || steps.back() != step)
      steps.push_back(step);
  const Index length = subject.checkpoint.config.task.length;
  ContextOptions options =
      context_options(length, whole_number(subject.there, "early"), whole_number(subject.there, "late"),
                      subject.there.number(0, "spread"));
  options.sequences = subject.sequences;
  return context_table(context_of_run(subject.run, steps, options, subject.options), length, options);
}

/// Throws Error for a twin that did not come to its last step.
Checkpoint finished_twin(const std::filesystem::path& folder) {
  const RunDirectory run = RunDirectory::open(folder);
  Checkpoint twin = latest_run_checkpoint(run);
  require(twin.step == run.config().train.steps,
          "[verify] {} has come to step {} of {}; tapehead verdict goes on with it", folder.string(),
          twin.step, run.config().train.steps);
  return twin;
}

CsvTable remade_verdict(const Subject& subject) {
  const Config& config = subject.checkpoint.config;
  const std::filesystem::path twin_run = twin_folder(subject.run);
  std::optional<Checkpoint> twin;
  if (subject.there.has("twin") && subject.there.cell(0, "twin") == "yes") twin = finished_twin(twin_run);
  const Verdict verdict = judge(
      subject.checkpoint.model, *subject.task, evaluation_batch(config, *subject.task),
      twin ? &twin->model : nullptr,
      {.evaluate = subject.options, .sequences = subject.sequences, .seed = config.train.evaluation_seed});
  return verdict_table(verdict, subject.checkpoint.step, subject.sequences);
}

CsvTable remade_scores(const Subject& subject) {
  const Config& config = subject.checkpoint.config;
  std::vector<Index> periods;
  for (Index row = 0; row < subject.there.rows(); ++row)
    if (const Index period = whole_number(subject.there, "period", row);
        periods.empty() || periods.back() < period)
      periods.push_back(period);
  PeriodOptions options = period_options(config, *subject.task, std::move(periods));
  options.sequences = subject.sequences;
  return period_table(scores_of_run(subject.run, subject.checkpoint, *subject.task, options, subject.options),
                      options);
}

Circuits circuits_of(const Subject& subject) {
  const Transformer& model = subject.checkpoint.model;
  return circuits_of(
      model, usual_circuit_options(model, subject.checkpoint.config, subject.batch(), subject.options));
}

CsvTable remade_circuits(const Subject& subject) {
  return circuit_table(circuits_of(subject), subject.checkpoint.step, subject.sequences);
}
CsvTable remade_composition(const Subject& subject) {
  return composition_table(circuits_of(subject), subject.checkpoint.step, subject.sequences);
}
CsvTable remade_eigenvalues(const Subject& subject) {
  return eigenvalue_table(circuits_of(subject), subject.checkpoint.step, subject.sequences);
}
CsvTable remade_attribution(const Subject& subject) {
  return attribution_table(attribute_logits(subject.checkpoint.model, subject.batch(), subject.options),
                           subject.checkpoint.step, subject.sequences);
}

struct Remake {
  std::string_view table;
  CsvTable (*make)(const Subject& subject);
};

constexpr std::array kRemakes{
    Remake{"scores", remade_scores},
    Remake{"ablation", remade_ablation},
    Remake{"subsets", remade_subsets},
    Remake{"shapley", remade_shapley},
    Remake{"interactions", remade_interactions},
    Remake{"patching", remade_patching},
    Remake{"circuits", remade_circuits},
    Remake{"composition", remade_composition},
    Remake{"eigenvalues", remade_eigenvalues},
    Remake{"attribution", remade_attribution},
    Remake{"lens", remade_lens},
    Remake{"context", remade_context},
    Remake{"verdict", remade_verdict},
};

}  // namespace

std::optional<CsvTable> remade_table(const RunDirectory& run, std::string_view name, const CsvTable& there,
                                     int threads) {
  if (name == "formation") return formation_table(std::array{formation_report(run)});
  const auto* remake = std::ranges::find(kRemakes, name, &Remake::table);
  if (remake == kRemakes.end()) return std::nullopt;
  require(there.rows() > 0, "[verify] {}.csv has no rows", name);
  return remake->make(subject_of(run, there, threads));
}

}  // namespace tapehead
