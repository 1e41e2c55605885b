#include "tapehead/app/training.h"

#include <spdlog/spdlog.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tapehead/app/interrupt.h"
#include "tapehead/app/progress.h"
#include "tapehead/app/table.h"
#include "tapehead/base/shell_word.h"
#include "tapehead/report/learning_text.h"
#include "tapehead/study/scored_run.h"
#include "tapehead/train/joint_run.h"
#include "tapehead/train/run_tables.h"

namespace tapehead::app {

namespace {

void announce(const Job& job) {
  const Config& config = job.trainer.config();
  const int ranks = job.trainer.ranks().count();
  spdlog::info("training {} parameters for {} steps of {} sequences on {}{} thread{}, into {}",
               grouped(job.trainer.model().parameters().count()), config.train.steps, config.train.batch,
               ranks > 1 ? fmt::format("{} ranks of ", ranks) : "", job.trainer.threads(),
               job.trainer.threads() == 1 ? "" : "s", job.run.path().string());
  if (const std::string warning = job.trainer.task().warning(); !warning.empty()) spdlog::warn(warning);
}

/// What somebody sees who waits for a training.
class View {
 public:
  explicit View(const Job& job)
      : run_(job.run),
        begun_at_(job.trainer.step()),
        last_step_(job.trainer.config().train.steps),
        progress_(begun_at_, last_step_, job.trainer.config().train.batch * job.trainer.task().length()) {}

  void stepped(Index step, double loss) {
    // By now the run's tables end where it goes on.
    if (step == begun_at_ + 1 && begun_at_ > 0) learning_.add_earlier(whole_metrics(run_), begun_at_);
    loss_ = loss;
    if (step < last_step_) progress_.update(step, loss_, &learning_);
  }
  void scored(const std::vector<HeadScores>& scores) { learning_.set_scores(scores); }
  void evaluated(Index step, const Evaluation& evaluation) {
    learning_.add(step, evaluation);
    if (step == last_step_) progress_.update(step, loss_, &learning_);
  }

 private:
  const RunDirectory& run_;
  const Index begun_at_;
  const Index last_step_;
  Progress progress_;
  LearningText learning_;
  double loss_ = 0;
};

/// Returns whether it came to its end, and the last evaluation.
std::pair<bool, std::optional<Evaluation>> train_in_view(Job& job) {
  View view(job);
  std::optional<Evaluation> last;
  const RunObserver observer{
      .stepped = [&](const Trainer& trainer,
                     const Trainer::StepReport& report) { view.stepped(trainer.step(), report.loss); },
      .evaluated =
          [&](const Trainer& trainer, const Batch&, const Evaluation& evaluation) {
            view.evaluated(trainer.step(), evaluation);
            last = evaluation;
          },
      .should_stop = interrupt_wished};
  const bool finished = train_scored_run(job.trainer, job.run, observer,
                                         [&](const std::vector<HeadScores>& scores) { view.scored(scores); });
  return {finished, std::move(last)};
}

/// If a rank dies, mpirun asks the others to stop, and they wait in vain for the step to end.
void explain_waits(const Job& job) {
  job.trainer.ranks().while_waiting([&job, said = false]() mutable {
    if (said || !interrupt_wished()) return;
    said = true;
    spdlog::warn(
        "waiting for the other ranks to finish the step; one that has died never will, and then this ends "
        "here: go on from step {} with tapehead train --resume {}",
        job.run.checkpoint_steps().empty() ? 0 : job.run.latest_step(), shell_word(job.run.path().string()));
  });
}

}  // namespace

void start_job(Trainer& trainer) {
  if (const std::string warning = start_together(trainer); !warning.empty()) spdlog::warn(warning);
}

void start_job_of_rank_0(Trainer& trainer) {
  config_of_rank_0(trainer.config(), trainer.ranks());
  start_job(trainer);
}

int follow_job(Trainer& trainer) {
  watch_for_interrupt(true);
  return follow_scored_run(trainer, interrupt_wished) ? 0 : 1;
}

int follow_rank_0(const Workers& workers) {
  Trainer trainer(config_of_rank_0({}, workers.ranks), workers);
  start_together(trainer);
  return follow_job(trainer);
}

int train_job(Job& job) {
  announce(job);
  watch_for_interrupt();
  explain_waits(job);
  const auto [finished, last] = train_in_view(job);
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
    spdlog::info("next: tapehead report {0} --measure, tapehead ablate {0}, tapehead plot {0}", run);
  return 0;
}

}  // namespace tapehead::app
