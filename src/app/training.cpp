#include "tapehead/app/training.h"

#include <spdlog/spdlog.h>

#include <optional>
#include <string>

#include "tapehead/app/interrupt.h"
#include "tapehead/app/progress.h"
#include "tapehead/app/table.h"
#include "tapehead/base/shell_word.h"
#include "tapehead/study/scored_run.h"

namespace tapehead::app {

namespace {

void announce(const Job& job) {
  const Config& config = job.trainer.config();
  spdlog::info("training {} parameters for {} steps of {} sequences on {} thread{}, into {}",
               grouped(job.trainer.model().parameters().count()), config.train.steps, config.train.batch,
               job.trainer.threads(), job.trainer.threads() == 1 ? "" : "s", job.run.path().string());
  if (const std::string warning = job.trainer.task().warning(); !warning.empty()) spdlog::warn(warning);
}

}  // namespace

int train_job(Job& job) {
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
