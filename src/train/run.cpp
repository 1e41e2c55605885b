#include "tapehead/train/run.h"

#include <chrono>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/schedule.h"

namespace tapehead {

namespace {

const std::vector<std::string> kMetrics{"step",           "tokens",        "loss",
                                        "loss_induction", "loss_noise",    "accuracy_induction",
                                        "learning_rate",  "gradient_norm", "seconds"};

/// The seconds of the last row up to where the trainer stands. Throws Error if that is not the row of the
/// last evaluation there was.
double seconds_so_far(const RunDirectory& run, Index step) {
  if (step == 0) return 0;
  CsvTable metrics = CsvTable::read(run.metrics_file());
  metrics.drop_above("step", static_cast<double>(step));
  const Index interval = run.config().train.evaluation_interval;
  const Index evaluated = step == run.config().train.steps ? step : step / interval * interval;
  require(metrics.rows() > 0 && metrics.number(metrics.rows() - 1, "step") == static_cast<double>(evaluated),
          "[run] {} should reach to step {}, the last evaluation before the checkpoint of step {}; rows are "
          "missing",
          run.metrics_file().string(), evaluated, step);
  return metrics.number(metrics.rows() - 1, "seconds");
}

/// Cuts the tables back to where the trainer stands; a run at step 0 writes that row anew.
void cut_tables(const RunDirectory& run, Index step) {
  for (const std::filesystem::path& file : {run.metrics_file(), run.heads_file()}) {
    if (!std::filesystem::exists(file)) continue;
    CsvTable table = CsvTable::read(file);
    table.drop_above("step", step == 0 ? -1 : static_cast<double>(step));
    table.write(file);
  }
}

void append_metrics(const RunDirectory& run, const Trainer& trainer, const Evaluation& evaluation,
                    const Trainer::StepReport* last, double seconds) {
  const TrainConfig& config = trainer.config().train;
  const Index tokens = trainer.step() * config.batch * trainer.task().length();
  CsvTable row(kMetrics);
  row.add({std::to_string(trainer.step()), std::to_string(tokens), csv_cell(evaluation.loss()),
           csv_cell(evaluation.loss(Kind::induction)), csv_cell(evaluation.loss(Kind::noise)),
           csv_cell(evaluation.accuracy(Kind::induction)),
           csv_cell(last == nullptr ? scheduled_rate(config, 0) : last->learning_rate),
           last == nullptr ? "" : csv_cell(last->gradient_norm), fmt::format("{:.3f}", seconds)});
  row.append_last_row(run.metrics_file());
}

}  // namespace

bool train_run(Trainer& trainer, const RunDirectory& run, const RunObserver& observer) {
  const TrainConfig& config = trainer.config().train;
  const double seconds_before = seconds_so_far(run, trainer.step());
  cut_tables(run, trainer.step());
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return seconds_before + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const Batch batch = evaluation_batch(trainer.config());
  const auto evaluate_now = [&](const Trainer::StepReport* last) {
    const Evaluation evaluation =
        evaluate(trainer.model(), batch, observer.watch, {.threads = trainer.threads()});
    append_metrics(run, trainer, evaluation, last, seconds());
    if (observer.evaluated) observer.evaluated(trainer, batch, evaluation);
  };
  const auto save = [&] {
    save_checkpoint(run.checkpoint_file(trainer.step()), trainer.config(), trainer.model(),
                    trainer.optimizer(), trainer.step());
  };

  if (trainer.step() == 0) {
    evaluate_now(nullptr);
    save();
  }
  while (trainer.step() < config.steps) {
    const Trainer::StepReport report = trainer.advance();
    if (observer.stepped) observer.stepped(trainer, report);
    const bool last = trainer.step() == config.steps;
    if (last || trainer.step() % config.evaluation_interval == 0) evaluate_now(&report);
    const bool stop = !last && observer.should_stop && observer.should_stop();
    if (last || stop || trainer.step() % config.checkpoint_interval == 0) save();
    if (stop) return false;
  }
  return true;
}

}  // namespace tapehead
