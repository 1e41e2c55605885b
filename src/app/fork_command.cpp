#include <spdlog/spdlog.h>

#include <utility>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/training.h"
#include "tapehead/base/require.h"
#include "tapehead/study/scored_run.h"
#include "tapehead/train/fork.h"

namespace tapehead::app {

namespace {

constexpr const char* kEpilogue =
    "\nThe child has the parent's model, optimizer and data to come, and its tables up to the step; it is\n"
    "trained to its end, as by train, and gone on with by train --resume. Its parent is named in "
    "parent.toml.\n"
    "Without --set it comes to the parent's bits. What may change: train.steps, the learning rate and its\n"
    "schedule, interventions, dropout, when to evaluate and what to save; not the model, the data, the "
    "batch,\n"
    "the kind of optimizer, and what is evaluated on.\n"
    "\n"
    "  tapehead fork runs/induction --set train.steps=4000 --out runs/longer\n"
    "  tapehead fork runs/induction --step 500 --out runs/clamped \\\n"
    "    --set 'intervention=[{site=\"blocks.0.attention.head_output\", head=0, kind=\"zero\", from=500}]'\n";

Arguments fork_arguments() {
  Arguments arguments("fork", "Goes on from a run's checkpoint, under another config, as a run of its own.",
                      "RUN");
  arguments.options()("step", "the checkpoint to begin from (default: the last)",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("set", "another value for one field of the run's config; may be repeated",
                      cxxopts::value<std::vector<std::string>>(), "table.key=value");
  arguments.options()("out", "the new run directory", cxxopts::value<std::string>(), "DIR");
  arguments.options()("overwrite", "replace the run that is in the new run directory");
  arguments.add_threads();
  arguments.epilogue(kEpilogue);
  return arguments;
}

}  // namespace

int fork_command(const Words& words) {
  Arguments arguments = fork_arguments();
  if (!arguments.parse(words)) return 0;
  const Workers workers = arguments.workers();
  if (!workers.ranks.leads()) return follow_rank_0(workers);
  const RunDirectory parent = RunDirectory::open(arguments.positional());
  if (!arguments.has("out") || arguments.text("out").empty())
    throw UsageError("--out: expected a folder for the new run; see tapehead fork --help");
  const std::vector<Index> steps = parent.checkpoint_steps();
  const Index step = arguments.has("step") ? arguments.number("step", 0) : steps.empty() ? 0 : steps.back();
  RunDirectory run =
      fork_run(parent, step, arguments.texts("set"), arguments.text("out"), arguments.flag("overwrite"));
  Trainer trainer = resume_scored_run(run, workers);
  start_job_of_rank_0(trainer);
  spdlog::info("going on from step {} of {}", step, parent.path().string());
  Job job{std::move(run), std::move(trainer)};
  return train_job(job);
}

}  // namespace tapehead::app
