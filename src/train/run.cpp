#include "tapehead/train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/checkpoint_schedule.h"
#include "tapehead/train/config_fields.h"
#include "tapehead/train/floor_table.h"
#include "tapehead/train/intervention.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/run_tables.h"
#include "tapehead/train/snapshot_ring.h"

namespace tapehead {

namespace {

/// The run's newest checkpoint. Throws Error, saying from where one could go on instead, if it cannot be
/// read.
Checkpoint newest_checkpoint(const RunDirectory& run, const std::vector<Index>& steps) {
  try {
    return latest_run_checkpoint(run);
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    const bool imported = run.config().model.initialisation == Initialisation::imported;
    const std::string way_out =
        steps.size() > 1 ? fmt::format("with it moved away, the run goes on from step {}", steps.end()[-2])
        : imported       ? "import the model again, with --overwrite"
                         : "with it moved away, the run begins again";
    throw Error(fmt::format("{}; {}", error.what(), way_out));
  }
}

/// What is saved can be gone on from.
void require_finite(const Trainer& trainer) {
  const Parameters::Entry* broken = trainer.model().parameters().first_not_finite();
  require(
      broken == nullptr,
      "[train] {} holds a number that is not finite after step {}, which is not saved; a smaller learning "
      "rate may help",
      broken == nullptr ? "" : broken->name, trainer.step());
  for (const Optimizer::State& state : trainer.optimizer().state())
    require(
        all_finite(state.values.values()),
        "[train] the optimizer's {} holds a number that is not finite after step {}, which is not saved; a "
        "smaller learning rate, or clipping, may help",
        state.name, trainer.step());
}

/// The run's own copy, with which its model can be read and written to wherever the run goes.
void save_tokenizer(const Task& task, const RunDirectory& run) {
  if (task.tokenizer() == nullptr || is_tokenizer_folder(run.tokenizer_folder())) return;
  std::filesystem::create_directories(run.tokenizer_folder());
  task.tokenizer()->save(run.tokenizer_folder());
}

/// What can be reached at all on the batch that the run is evaluated on.
void save_floors(const Task& task, const Batch& batch, const RunDirectory& run, int threads) {
  const std::filesystem::path file = run.table_file("floors");
  if (std::filesystem::exists(file)) return;
  const CsvTable table = floor_table(task, batch, threads);
  run.require_held();
  table.write(file);
}

/// One go at a run, from where the trainer stands.
class Session {
 public:
  Session(Trainer& trainer, const RunDirectory& run, const RunObserver& observer);
  /// Returns false if it was asked to stop before the last step.
  bool train();

 private:
  const TrainConfig& config() const { return trainer_.config().train; }
  void evaluate_now(const Trainer::StepReport* last);
  double ring_score(const Evaluation& evaluation) const;
  void save();
  void hear_earlier_scores();
  void save_window(bool unfinished);
  void flush_tables() const;

  Trainer& trainer_;
  const RunDirectory& run_;
  const RunObserver& observer_;
  const Batch batch_;
  const double seconds_before_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  SnapshotRing ring_;
  std::vector<Index> window_steps_;  // that only the ring has saved
};

Session::Session(Trainer& trainer, const RunDirectory& run, const RunObserver& observer)
    : trainer_(trainer),
      run_(run),
      observer_(observer),
      batch_(evaluation_batch(trainer.config(), trainer.task())),
      seconds_before_(cut_tables(run, trainer.step())),
      ring_(config()) {
  if (config().ring_snapshots > 0) hear_earlier_scores();
}

/// What the ring would know if this session had begun with the run: the rises so far, and what it has saved.
void Session::hear_earlier_scores() {
  const std::vector<Index> saved = run_.checkpoint_steps();
  for (const ScoreAt& at : ring_scores(run_)) {
    ring_.scored(at.step, at.score);
    for (const Index step : saved)
      if (step != saved.front() && step < trainer_.step() && ring_.is_in_window(step) &&
          !is_checkpoint_step(config(), step) &&
          std::ranges::find(window_steps_, step) == window_steps_.end())
        window_steps_.push_back(step);
  }
}

void Session::evaluate_now(const Trainer::StepReport* last) {
  const Evaluation evaluation = evaluate_in_training(trainer_, batch_, observer_.watch);
  if (!std::isfinite(evaluation.loss()))
    throw Error(
        fmt::format("[train] the evaluation's loss is not finite after step {}, {}; {} may help",
                    trainer_.step(), trainer_.fault_in(batch_),
                    trainer_.step() == 0 ? "another model.initialisation" : "a smaller learning rate"));
  run_.require_held();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  append_metrics(run_, trainer_, evaluation, last, seconds_before_ + seconds.count());
  if (observer_.evaluated) observer_.evaluated(trainer_, batch_, evaluation);
  if (config().ring_snapshots > 0) ring_.scored(static_cast<double>(trainer_.step()), ring_score(evaluation));
}

double Session::ring_score(const Evaluation& evaluation) const {
  return config().ring_score == "accuracy_induction" ? evaluation.accuracy(Kind::induction)
                                                     : observer_.ring_score();
}

/// A checkpoint never outlives the rows that lead to it, even if the machine stops.
void Session::flush_tables() const {
  run_.require_held();
  for (const auto& file : {run_.metrics_file(), run_.heads_file()})
    if (std::filesystem::exists(file)) flush_file(file, "run");
}

void Session::save() {
  require_finite(trainer_);
  flush_tables();
  save_checkpoint(run_.checkpoint_file(trainer_.step()), trainer_.config(), trainer_.model(),
                  trainer_.optimizer(), trainer_.step(), trainer_.task().fingerprint());
  std::erase(window_steps_, trainer_.step());
}

/// Saves the ring's window if it is whole by now, or, `unfinished`, as it is; removes what was one before.
void Session::save_window(bool unfinished) {
  const SnapshotRing::Snapshots window = ring_.take_window(trainer_.step(), unfinished);
  if (window.empty()) return;
  require_finite(trainer_);
  flush_tables();
  for (const auto& snapshot : window) {
    const std::filesystem::path file = run_.checkpoint_file(snapshot->step);
    if (std::filesystem::exists(file)) continue;
    save_snapshot(file, trainer_.config(), trainer_.model().parameters(), *snapshot,
                  trainer_.task().fingerprint());
    window_steps_.push_back(snapshot->step);
  }
  for (const Index step : window_steps_)
    if (!ring_.is_in_window(step)) std::filesystem::remove(run_.checkpoint_file(step));
  std::erase_if(window_steps_, [&](Index step) { return !ring_.is_in_window(step); });
}

bool Session::train() {
  save_tokenizer(trainer_.task(), run_);
  save_floors(trainer_.task(), batch_, run_, trainer_.threads());
  if (trainer_.step() == 0) {
    evaluate_now(nullptr);
    save();
  }
  while (trainer_.step() < config().steps) {
    const Trainer::StepReport report = trainer_.advance();
    const Index step = trainer_.step();
    if (ring_.wants(step)) ring_.keep(snapshot_of(trainer_.model(), trainer_.optimizer(), step));
    if (observer_.stepped) observer_.stepped(trainer_, report);
    const bool last = step == config().steps;
    if (is_evaluation_step(config(), step)) evaluate_now(&report);
    const bool wished = observer_.should_stop && observer_.should_stop();
    const bool stop = !last && trainer_.ranks().any(wished, "stop");
    save_window(last || stop);
    if (stop || is_checkpoint_step(config(), step)) save();
    if (stop) return false;
  }
  return true;
}

}  // namespace

Trainer resume_run(const RunDirectory& run, const Workers& workers) {
  const std::vector<Index> steps = run.checkpoint_steps();
  if (steps.empty()) return Trainer(run.config(), workers);
  return Trainer(newest_checkpoint(run, steps), run.latest_checkpoint(), workers);
}

bool train_run(Trainer& trainer, const RunDirectory& run, const RunObserver& observer) {
  const TrainConfig& config = trainer.config().train;
  if (config.ring_snapshots > 0 && config.ring_score != "accuracy_induction" && !observer.ring_score)
    throw UsageError(fmt::format("[train] train.ring_score is {}, and the heads of this run are not scored",
                                 config.ring_score));
  return Session(trainer, run, observer).train();
}

}  // namespace tapehead
