#include <spdlog/spdlog.h>

#include <utility>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/training.h"
#include "tapehead/base/require.h"
#include "tapehead/study/scored_run.h"
#include "tapehead/train/joint_run.h"

namespace tapehead::app {

namespace {

Arguments train_arguments() {
  Arguments arguments("train", "Trains a model as a config says, into a run directory.", "CONFIG");
  arguments.options()("out", "the run directory (default: runs/ and the config's name)",
                      cxxopts::value<std::string>(), "DIR");
  arguments.options()("set", "another value for one field of the config; may be repeated",
                      cxxopts::value<std::vector<std::string>>(), "table.key=value");
  arguments.options()("overwrite", "replace the run that is in the run directory");
  arguments.options()("resume", "go on with a run that was stopped, in place of CONFIG",
                      cxxopts::value<std::string>(), "RUN");
  arguments.add_threads();
  arguments.epilogue("\nThe config:\n\n" + describe_fields());
  return arguments;
}

Job resumed_job(const Arguments& arguments) {
  for (const char* option : {"out", "set", "overwrite"})
    if (arguments.has(option)) throw UsageError(fmt::format("--{} does not go with --resume", option));
  if (arguments.has_positional())
    throw UsageError("--resume takes the config from the run: give no CONFIG beside it");
  RunDirectory run = RunDirectory::open_for_writing(arguments.text("resume"));
  Trainer trainer = resume_scored_run(run, arguments.workers());
  start_job_of_rank_0(trainer);
  spdlog::info("going on with {} at step {}", run.path().string(), trainer.step());
  return {std::move(run), std::move(trainer)};
}

Job new_job(const Arguments& arguments) {
  const std::filesystem::path file = arguments.positional();
  const Config config = read_config(file, arguments.texts("set"));
  Trainer trainer(config, arguments.workers());
  start_job(trainer);
  if (arguments.has("out") && arguments.text("out").empty())
    throw UsageError("--out: expected a folder, got ''");
  const std::filesystem::path out = arguments.has("out") ? std::filesystem::path(arguments.text("out"))
                                                         : std::filesystem::path("runs") / file.stem();
  return {RunDirectory::create(out, config, arguments.flag("overwrite")), std::move(trainer)};
}

/// Every rank reads the config, so that one with another file is found out.
int follow(const Arguments& arguments) {
  if (arguments.has("resume")) return follow_rank_0(arguments.workers());
  Trainer trainer(read_config(arguments.positional(), arguments.texts("set")), arguments.workers());
  start_together(trainer);
  return follow_job(trainer);
}

}  // namespace

int train_command(const Words& words) {
  Arguments arguments = train_arguments();
  if (!arguments.parse(words)) return 0;
  if (!arguments.workers().ranks.leads()) return follow(arguments);
  Job job = arguments.has("resume") ? resumed_job(arguments) : new_job(arguments);
  const bool saved = !job.run.checkpoint_steps().empty();
  if (arguments.has("resume") && saved && job.trainer.step() >= job.trainer.config().train.steps) {
    spdlog::info("{} is finished already", job.run.path().string());
    return 0;
  }
  return train_job(job);
}

}  // namespace tapehead::app
