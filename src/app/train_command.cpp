#include <spdlog/spdlog.h>

#include <iostream>
#include <optional>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/interrupt.h"
#include "tapehead/app/progress.h"
#include "tapehead/app/shell_word.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/scored_run.h"

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

/// What is to be trained, and where it is written.
struct Job {
  RunDirectory run;
  Trainer trainer;
};

Job resumed_job(const Arguments& arguments) {
  for (const char* option : {"out", "set", "overwrite"})
    if (arguments.has(option)) throw UsageError(fmt::format("--{} does not go with --resume", option));
  if (arguments.has_positional())
    throw UsageError("--resume takes the config from the run: give no CONFIG beside it");
  RunDirectory run = RunDirectory::open_for_writing(arguments.text("resume"));
  Trainer trainer = resume_scored_run(run, arguments.threads());
  spdlog::info("going on with {} at step {}", run.path().string(), trainer.step());
  return {std::move(run), std::move(trainer)};
}

Job new_job(const Arguments& arguments) {
  const std::filesystem::path file = arguments.positional();
  const Config config = read_config(file, arguments.texts("set"));
  Trainer trainer(config, arguments.threads());
  if (arguments.has("out") && arguments.text("out").empty())
    throw UsageError("--out: expected a folder, got ''");
  const std::filesystem::path out = arguments.has("out") ? std::filesystem::path(arguments.text("out"))
                                                         : std::filesystem::path("runs") / file.stem();
  return {RunDirectory::create(out, config, arguments.flag("overwrite")), std::move(trainer)};
}

void announce(const Job& job) {
  const Config& config = job.trainer.config();
  spdlog::info("training {} parameters for {} steps of {} sequences on {} thread{}, into {}",
               grouped(job.trainer.model().parameters().count()), config.train.steps, config.train.batch,
               job.trainer.threads(), job.trainer.threads() == 1 ? "" : "s", job.run.path().string());
  if (const std::string warning = job.trainer.task().warning(); !warning.empty()) spdlog::warn(warning);
}

}  // namespace

int train_command(const Words& words) {
  Arguments arguments = train_arguments();
  if (!arguments.parse(words)) return 0;
  Job job = arguments.has("resume") ? resumed_job(arguments) : new_job(arguments);
  const bool saved = !job.run.checkpoint_steps().empty();
  if (arguments.has("resume") && saved && job.trainer.step() >= job.trainer.config().train.steps) {
    spdlog::info("{} is finished already", job.run.path().string());
    return 0;
  }
  announce(job);
  watch_for_interrupt();

  const TrainConfig& config = job.trainer.config().train;
  std::optional<Progress> progress(std::in_place, job.trainer.step(), config.steps,
                                   config.batch * job.trainer.task().length());
  std::optional<Evaluation> last;
  const RunObserver observer{
      .stepped = [&](const Trainer& trainer,
                     const Trainer::StepReport& report) { progress->update(trainer.step(), report.loss); },
      .evaluated = [&](const Trainer&, const Batch&, const Evaluation& evaluation) { last = evaluation; },
      .should_stop = interrupt_wished};
  const bool finished = train_scored_run(job.trainer, job.run, observer);
  progress.reset();

  const std::string run = shell_word(job.run.path().string());
  if (!finished) {
    spdlog::warn("stopped after step {}, which is saved; go on with: tapehead train --resume {}",
                 job.trainer.step(), run);
    return 1;
  }
  if (last)
    spdlog::info("done: loss {} on induction positions, {} on noise; accuracy {} on induction positions",
                 decimals(last->loss(Kind::induction), 3), decimals(last->loss(Kind::noise), 3),
                 decimals(last->accuracy(Kind::induction), 3));
  if (job.trainer.task().tokenizer() != nullptr)
    spdlog::info("next: tapehead eval {0}, tapehead generate {0} --prompt TEXT, tapehead plot {0}", run);
  else
    spdlog::info("next: tapehead ablate {0}, tapehead heads {0}, tapehead plot {0}", run);
  return 0;
}

}  // namespace tapehead::app
