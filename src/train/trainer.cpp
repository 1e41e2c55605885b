#include "tapehead/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tapehead/autograd/fused.h"
#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/schedule.h"

namespace tapehead {

namespace {

std::unique_ptr<Optimizer> make_optimizer(const TrainConfig& config) {
  if (config.optimizer == "sgd")
    return std::make_unique<Sgd>(Sgd::Config{.learning_rate = config.learning_rate,
                                             .momentum = config.momentum,
                                             .weight_decay = config.weight_decay});
  const AdamConfig adam{.learning_rate = config.learning_rate,
                        .beta1 = config.betas[0],
                        .beta2 = config.betas[1],
                        .epsilon = config.epsilon,
                        .weight_decay = config.weight_decay};
  if (config.optimizer == "adam") return std::make_unique<Adam>(adam);
  return std::make_unique<AdamW>(adam);
}

const Config& checked(const Config& config) {
  validate(config);
  return config;
}

/// Adds sets 2^k apart, for k = 0, 1, ...: the first ends up with the sum, in an order that depends on their
/// number alone.
void add_in_tree(std::vector<Gradients>& sets) {
  const std::size_t count = sets.size();
  for (std::size_t apart = 1; apart < count; apart *= 2)
    for (std::size_t i = 0; i + apart < count; i += 2 * apart) {
      Real* sum = sets[i].data();
      const Real* other = sets[i + apart].data();
      for (Index j = 0; j < sets[i].count(); ++j) sum[j] += other[j];
      sets[i + apart] = Gradients();
    }
}

}  // namespace

Trainer::Trainer(const Config& config, int threads)
    : config_(checked(config)),
      threads_(threads),
      task_(make_task(config.task, config.model.vocabulary)),
      model_(config.model, config.train.initialisation_seed),
      optimizer_(make_optimizer(config.train)) {}

Trainer::Trainer(Checkpoint checkpoint, const std::filesystem::path& file, int threads)
    : config_(std::move(checkpoint.config)),
      threads_(threads),
      step_(checkpoint.step),
      task_(make_task(config_.task, config_.model.vocabulary)),
      model_(std::move(checkpoint.model)),
      optimizer_(make_optimizer(config_.train)) {
  restore_optimizer(file, model_.parameters(), *optimizer_);
}

Trainer::Trainer(const std::filesystem::path& checkpoint, int threads)
    : Trainer(load_checkpoint(checkpoint), checkpoint, threads) {}

Gradients Trainer::gradients_of(const Batch& batch, double& loss) const {
  const Index shard_size = config_.train.shard;
  const Index shards = (batch.size() + shard_size - 1) / shard_size;
  const double positions = static_cast<double>(batch.targets.count());
  std::vector<Gradients> sets(static_cast<std::size_t>(shards));
  std::vector<double> losses(static_cast<std::size_t>(shards));
  parallel_for(shards, threads_, [&](Index shard) {
    const Index first = shard * shard_size;
    const Batch part = batch.rows(first, std::min(shard_size, batch.size() - first));
    Tape tape;
    Pass pass(tape, Generator(config_.train.dropout_seed, Purpose::dropout, step_, shard));
    const Variable sum =
        cross_entropy(model_(std::move(pass), part.inputs), part.targets, {.divisor = positions});
    require(std::isfinite(sum.item()),
            "[train] the loss is not finite at step {}, shard {}; a smaller learning rate may help",
            step_ + 1, shard);
    losses[static_cast<std::size_t>(shard)] = static_cast<double>(sum.item());
    sets[static_cast<std::size_t>(shard)] = tape.backward(sum);
  });
  loss = 0;
  for (const double part : losses) loss += part;
  add_in_tree(sets);
  return std::move(sets.front());
}

Trainer::StepReport Trainer::advance() {
  Generator data(config_.train.data_seed, Purpose::data, step_);
  const Batch batch = task_->sample(data, config_.train.batch);
  StepReport report{};
  Gradients gradients = gradients_of(batch, report.loss);
  report.gradient_norm = clip_norm(gradients, config_.train.clip);
  require(std::isfinite(report.gradient_norm),
          "[train] the gradient is not finite at step {}; a smaller learning rate may help", step_ + 1);
  report.learning_rate = scheduled_rate(config_.train, step_);
  optimizer_->set_learning_rate(report.learning_rate);
  optimizer_->step(model_.parameters(), gradients);
  ++step_;
  return report;
}

Batch evaluation_batch(const Config& config) {
  Generator generator(config.train.evaluation_seed, Purpose::evaluation);
  return make_task(config.task, config.model.vocabulary)
      ->sample(generator, config.train.evaluation_sequences);
}

}  // namespace tapehead
