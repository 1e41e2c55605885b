/// One training step after another.
///
/// A step draws its batch from the stream of (data seed, step), cuts it into shards of a fixed size, and runs
/// each forward and backward alone: its own tape, its own gradients, its own dropout stream. Gradient sets
/// are added in a fixed tree, so a run has the same bits on any number of threads and ranks, and after a
/// restart. Where there are several ranks, each owns some of the shards, and all of them have the parameters.
#pragma once

#include <filesystem>
#include <memory>

#include "tapehead/base/ranks.h"
#include "tapehead/nn/edits.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/tasks/task.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/config.h"
#include "tapehead/train/evaluate.h"
#include "tapehead/train/optimizer.h"

namespace tapehead {

class Trainer {
 public:
  /// A fresh model. Throws UsageError as validate(Config) does.
  Trainer(const Config& config, const Workers& workers);
  /// Continues from a checkpoint's model, optimizer and step. Throws as load_checkpoint, restore_optimizer
  /// and task_of do.
  Trainer(const std::filesystem::path& checkpoint, const Workers& workers);
  /// The same from a checkpoint that was read from `file` already.
  Trainer(Checkpoint checkpoint, const std::filesystem::path& file, const Workers& workers);

  struct StepReport {
    double loss;           ///< mean over the batch's positions, in nats, before the update
    double learning_rate;  ///< of this update
    double gradient_norm;  ///< before clipping
    Index operations;      ///< multiplications and additions asked of matrix products
  };
  /// One update, which all ranks make together; its times are added to `profile` unless that is null. Throws
  /// Error, naming step, shard and the op that made the first such number, for a loss or gradient that is not
  /// finite; the parameters are then those of before.
  StepReport advance(Profile* profile = nullptr);

  const Config& config() const { return config_; }
  /// How many shards a batch has.
  Index shards() const { return shards_of(config_.train.batch); }
  /// Updates done since the run began.
  Index step() const { return step_; }
  const Transformer& model() const { return model_; }
  const Task& task() const { return *task_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  int threads() const { return workers_.threads; }
  Ranks& ranks() const { return workers_.ranks; }
  /// The config's interventions that act on the next update, for an evaluation of the model as it trains.
  Edits interventions() const;

  /// Goes on from where another trainer of this config stood. Throws Error if the sizes do not fit.
  void restore(Snapshot snapshot);

  /// What made the first number that is not finite, in shard `first_shard` of the batch or one after it, if
  /// that was the next step's.
  std::string fault_in(const Batch& batch, Index first_shard = 0) const;

 private:
  Gradients gradients_of(const Batch& batch, StepReport& report, Profile* profile) const;
  /// The loss of shard `index` of the next step's batch.
  Variable loss_of(Tape& tape, const Batch& batch, Index index, const Watch& watch = {}) const;
  Index shards_of(Index sequences) const;
  [[noreturn]] void fail_at(const char* what, const std::string& fault) const;

  Config config_;
  Workers workers_;
  Index step_ = 0;
  std::unique_ptr<Task> task_;
  Transformer model_;
  std::unique_ptr<Optimizer> optimizer_;
};

/// The checkpoint's task. Throws UsageError if its data are no longer those that were trained on, and as
/// make_task.
std::unique_ptr<Task> task_of(const Checkpoint& checkpoint);

/// The batch that a run is evaluated on: from its own seed, always the same, never trained on. `task` is the
/// config's.
Batch evaluation_batch(const Config& config, const Task& task);
Batch evaluation_batch(const Config& config);

/// Whether a run is evaluated after so many steps: at the beginning, every so often, and at the end.
bool is_evaluation_step(const TrainConfig& config, Index step);

/// Evaluates the model as it trains, with the config's interventions that act on the next update. All ranks
/// do it together, with watchers of the same kinds; rank 0 has the result.
Evaluation evaluate_in_training(const Trainer& trainer, const Batch& batch, const Watch& watch);

}  // namespace tapehead
