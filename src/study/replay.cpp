#include "tapehead/study/replay.h"

#include <algorithm>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/study/scored_run.h"
#include "tapehead/train/checkpoint_schedule.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/run_tables.h"

namespace tapehead {

namespace {

bool equal(std::span<const Real> a, std::span<const Real> b) { return std::ranges::equal(a, b); }

/// What the checkpoint holds in place of what the trainer has come to; nothing where it holds that.
std::optional<std::string> departure(const Trainer& trainer, const std::filesystem::path& file) try {
  const Trainer saved(file, 1);
  const auto same_state = [](const Optimizer::State& a, const Optimizer::State& b) {
    return a.name == b.name && equal(a.values.values(), b.values.values());
  };
  const bool is_same = saved.step() == trainer.step() && saved.config() == trainer.config() &&
                       equal(saved.model().parameters().values(), trainer.model().parameters().values()) &&
                       saved.optimizer().steps() == trainer.optimizer().steps() &&
                       std::ranges::equal(saved.optimizer().state(), trainer.optimizer().state(), same_state);
  return is_same ? std::nullopt : std::optional<std::string>("other parameters, averages or config");
} catch (const Error& error) {
  return error.what();
}

/// Whether the run starts from a model that its seeds do not give.
bool has_given_start(const RunDirectory& run, const std::vector<Index>& steps) {
  return run.config().model.initialisation == Initialisation::imported || steps.front() > 0 || run.parent();
}

/// Puts what the run began with into a run that begins there.
void give_start(const RunDirectory& run, const RunDirectory& begun, Index step) {
  std::filesystem::copy_file(run.checkpoint_file(step), begun.checkpoint_file(step));
  if (run.parent()) std::filesystem::copy_file(run.parent_file(), begun.parent_file());
  if (step == 0) return;
  for (const std::string_view name : {"metrics", "heads"}) {
    if (!std::filesystem::exists(run.table_file(name))) continue;
    (name == "metrics" ? metrics_until(run, step) : heads_until(run, step)).write(begun.table_file(name));
  }
}

/// The step of the last row of the run's metrics; 0 where they cannot be read.
double last_row(const RunDirectory& run) try {
  if (!std::filesystem::exists(run.metrics_file())) return 0;
  const CsvTable metrics = CsvTable::read(run.metrics_file());
  return metrics.rows() == 0 ? 0 : metrics.number(metrics.rows() - 1, "step");
} catch (const Error&) {
  return 0;
}

/// The last step that the run has come to, by its checkpoints and its metrics; none lies after its end.
Index last_step(const RunDirectory& run, const std::vector<Index>& steps) {
  const double last = std::fmax(static_cast<double>(steps.back()), last_row(run));
  return static_cast<Index>(std::fmin(last, static_cast<double>(run.config().train.steps)));
}

}  // namespace

Replay replay(const RunDirectory& run, const std::filesystem::path& folder, const ReplayOptions& options) {
  const std::vector<Index> steps = run.checkpoint_steps();
  require(!steps.empty(), "[replay] {} has no checkpoint to begin with", run.path().string());
  const Index last = last_step(run, steps);
  const RunDirectory again = RunDirectory::create(folder, run.config(), false);
  Replay result;
  if (has_given_start(run, steps)) {
    result.given = steps.front();
    give_start(run, again, steps.front());
  }
  Trainer trainer = resume_scored_run(again, options.threads);

  const auto compare_checkpoint = [&] {
    if (std::ranges::find(steps, trainer.step()) == steps.end()) {
      if (is_checkpoint_step(run.config().train, trainer.step())) result.missing.push_back(trainer.step());
      return;
    }
    result.compared.push_back(trainer.step());
    if (auto what = departure(trainer, run.checkpoint_file(trainer.step())))
      result.different.push_back({trainer.step(), *std::move(what)});
  };
  compare_checkpoint();
  train_scored_run(
      trainer, again,
      {.stepped =
           [&](const Trainer& at, const Trainer::StepReport& report) {
             compare_checkpoint();
             if (options.stepped) options.stepped(at.step(), report.loss);
           },
       .should_stop =
           [&] { return trainer.step() >= last || (options.should_stop && options.should_stop()); }});
  result.is_whole = trainer.step() >= last;
  return result;
}

}  // namespace tapehead
