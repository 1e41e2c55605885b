#include "tapehead/app/loaded_run.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "tapehead/base/require.h"
#include "tapehead/train/config_rules.h"
#include "tapehead/train/intervention.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/trainer.h"

namespace tapehead::app {

void add_step_option(Arguments& arguments) {
  arguments.options()("step", "the checkpoint to look at (default: the last)", cxxopts::value<std::string>(),
                      "N");
}

namespace {

/// Throws Error, with a way out, for one that cannot be read.
Checkpoint read_checkpoint(const RunDirectory& run, Index step) {
  try {
    return run_checkpoint(run, step);
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw Error(fmt::format("{}; other checkpoints can be looked at with --step", error.what()));
  }
}

/// A run's tables tell of the model as it trains, and everything else of the model by itself.
void say_what_is_left_off(const RunDirectory& run, const Checkpoint& checkpoint) {
  for (const Intervention& intervention : checkpoint.config.interventions)
    if (acts_at(intervention, checkpoint.step))
      spdlog::warn(
          "{} trains with an intervention, {}: its metrics.csv and heads.csv tell of the model with "
          "it, this of the model without",
          run.path().string(), in_words(intervention));
}

}  // namespace

Checkpoint chosen_checkpoint(const Arguments& arguments, const RunDirectory& run) {
  const Index step = arguments.has("step") ? arguments.number("step", 0) : run.latest_step();
  const std::vector<Index> steps = run.checkpoint_steps();
  if (std::ranges::find(steps, step) == steps.end()) {
    std::string list;
    for (const Index there : steps) list += fmt::format(" {}", there);
    throw UsageError(fmt::format("--step: {} has no checkpoint of step {}; it has{}", run.path().string(),
                                 step, list.empty() ? " none" : list));
  }
  Checkpoint checkpoint = read_checkpoint(run, step);
  // Numbers from a broken model would look like findings.
  const Parameters::Entry* broken = checkpoint.model.parameters().first_not_finite();
  require(broken == nullptr,
          "[checkpoint] {}: {} holds a number that is not finite; try an earlier one with --step",
          run.checkpoint_file(step).string(), broken == nullptr ? "" : broken->name);
  say_what_is_left_off(run, checkpoint);
  return checkpoint;
}

Index sequences_given(const Arguments& arguments, Index least, Index length) {
  const Index count = arguments.number("sequences", least);
  const std::string complaint = complaint_about_sequences(count, length);
  if (!complaint.empty()) throw UsageError("--sequences: " + complaint);
  return count;
}

void add_run_options(Arguments& arguments) {
  add_step_option(arguments);
  arguments.options()("sequences", "how many sequences to evaluate on (default: as the run did)",
                      cxxopts::value<std::string>(), "N");
  arguments.add_threads();
  arguments.add_json();
}

LoadedRun load_run(const Arguments& arguments) {
  RunDirectory directory = RunDirectory::open(arguments.positional());
  Checkpoint checkpoint = chosen_checkpoint(arguments, directory);
  Config config = checkpoint.config;
  if (arguments.has("sequences"))
    config.train.evaluation_sequences = sequences_given(arguments, 1, config.task.length);
  std::unique_ptr<Task> task = task_of(checkpoint);
  Batch batch = evaluation_batch(config, *task);
  return {std::move(directory), std::move(checkpoint), std::move(task), std::move(batch)};
}

std::vector<RunDirectory> open_runs(const Arguments& arguments) {
  std::vector<RunDirectory> runs;
  for (const std::string& path : arguments.positionals()) {
    RunDirectory run = RunDirectory::open(path);
    const auto is_same = [&](const RunDirectory& other) {
      return std::filesystem::equivalent(run.path(), other.path());
    };
    if (std::ranges::any_of(runs, is_same))
      spdlog::warn("{} is named twice, and counts once", path);
    else
      runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace tapehead::app
