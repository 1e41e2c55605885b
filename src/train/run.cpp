#include "tapehead/train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/config_fields.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/floor_table.h"
#include "tapehead/train/schedule.h"

namespace tapehead {

namespace {

const std::vector<std::string> kMetrics{"step",           "tokens",        "loss",
                                        "loss_induction", "loss_noise",    "accuracy_induction",
                                        "learning_rate",  "gradient_norm", "seconds"};

/// The evaluation after that of step `at`.
Index next_evaluation(const TrainConfig& config, Index at) {
  const Index next = at + config.evaluation_interval;
  return at < config.steps ? std::min(next, config.steps) : next;
}

/// A table of the run up to `step`. Throws Error unless it has `rows` rows for every evaluation until then,
/// in their order.
CsvTable table_until(const std::filesystem::path& file, const TrainConfig& config, Index step, Index rows) {
  CsvTable table = CsvTable::read(file);
  table.drop_above("step", static_cast<double>(step));
  Index row = 0;
  for (Index at = 0; at <= step && rows > 0; at = next_evaluation(config, at))
    for (const Index end = row + rows; row < end; ++row)
      require(row < table.rows() && table.number(row, "step") == static_cast<double>(at),
              "[run] {} should have {} row{} for each evaluation up to the checkpoint of step {}; those of "
              "step {} are missing or out of order",
              file.string(), rows, rows == 1 ? "" : "s", step, at);
  require(row == table.rows(), "[run] {} has {} rows too many up to step {}", file.string(),
          table.rows() - row, step);
  return table;
}

/// Cuts the tables back to where the trainer stands, and returns the seconds it had taken until there. A run
/// at step 0 begins them anew.
double cut_tables(const RunDirectory& run, Index step) {
  if (step == 0) {
    for (const auto& file : {run.metrics_file(), run.heads_file()}) std::filesystem::remove(file);
    return 0;
  }
  const auto& [model, task, train] = run.config();
  const CsvTable metrics = table_until(run.metrics_file(), train, step, 1);
  require(metrics.columns() == kMetrics, "[run] {} should have the columns {}, it has {}",
          run.metrics_file().string(), fmt::join(kMetrics, ","), fmt::join(metrics.columns(), ","));
  if (std::filesystem::exists(run.heads_file()))
    table_until(run.heads_file(), train, step, model.layers * model.heads).write(run.heads_file());
  metrics.write(run.metrics_file());
  return metrics.number(metrics.rows() - 1, "seconds");
}

/// Throws UsageError if the run's config.toml is no longer what the checkpoint was made with.
void require_same_config(const RunDirectory& run, const Config& saved) {
  const std::vector<const ConfigField*> differing = differing_fields(run.config(), saved);
  if (differing.empty()) return;
  const ConfigField& field = *differing.front();
  throw UsageError(
      fmt::format("{} and {} disagree: {} is {} in the one and {} in the other; put it back, or start "
                  "another run",
                  (run.path() / "config.toml").string(), run.latest_checkpoint().string(), field.name(),
                  written(field.get(run.config())), written(field.get(saved))));
}

/// The run's newest checkpoint. Throws Error, saying from where one could go on instead, if it cannot be
/// read.
Checkpoint newest_checkpoint(const RunDirectory& run, const std::vector<Index>& steps) {
  try {
    Checkpoint checkpoint = load_checkpoint(run.latest_checkpoint());
    require(checkpoint.step == steps.back(), "[run] {} is of step {}", run.latest_checkpoint().string(),
            checkpoint.step);
    return checkpoint;
  } catch (const Error& error) {
    const bool imported = run.config().model.initialisation == Initialisation::imported;
    const std::string way_out =
        steps.size() > 1 ? fmt::format("with it moved away, the run goes on from step {}", steps.end()[-2])
        : imported       ? "import the model again, with --overwrite"
                         : "with it moved away, the run begins again";
    throw Error(fmt::format("{}; {}", error.what(), way_out));
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
  row.append_to(run.metrics_file());
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

}  // namespace

Trainer resume_run(const RunDirectory& run, int threads) {
  const std::vector<Index> steps = run.checkpoint_steps();
  if (steps.empty()) return Trainer(run.config(), threads);
  Checkpoint checkpoint = newest_checkpoint(run, steps);
  require_same_config(run, checkpoint.config);
  return Trainer(std::move(checkpoint), run.latest_checkpoint(), threads);
}

bool train_run(Trainer& trainer, const RunDirectory& run, const RunObserver& observer) {
  const TrainConfig& config = trainer.config().train;
  const double seconds_before = cut_tables(run, trainer.step());
  const Batch batch = evaluation_batch(trainer.config(), trainer.task());
  save_floors(trainer.task(), batch, run, trainer.threads());
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return seconds_before + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto evaluate_now = [&](const Trainer::StepReport* last) {
    const Evaluation evaluation =
        evaluate(trainer.model(), batch, observer.watch, {.threads = trainer.threads()});
    if (!std::isfinite(evaluation.loss()))
      throw Error(
          fmt::format("[train] the evaluation's loss is not finite after step {}, {}; {} may help",
                      trainer.step(), trainer.fault_in(batch),
                      trainer.step() == 0 ? "another model.initialisation" : "a smaller learning rate"));
    run.require_held();
    append_metrics(run, trainer, evaluation, last, seconds());
    if (observer.evaluated) observer.evaluated(trainer, batch, evaluation);
  };
  const auto save = [&] {
    require_finite(trainer);
    run.require_held();
    // A checkpoint never outlives the rows that lead to it, even if the machine stops.
    for (const auto& file : {run.metrics_file(), run.heads_file()})
      if (std::filesystem::exists(file)) flush_file(file, "run");
    save_checkpoint(run.checkpoint_file(trainer.step()), trainer.config(), trainer.model(),
                    trainer.optimizer(), trainer.step(), trainer.task().fingerprint());
  };

  save_tokenizer(trainer.task(), run);
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
