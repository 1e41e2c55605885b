#include "tapehead/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tapehead/autograd/fused.h"
#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/fault_finder.h"
#include "tapehead/train/intervention.h"
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

/// What one shard of a batch gives.
struct ShardResult {
  Gradients gradients;
  double loss = 0;
  Index operations = 0;
  Profile profile;
};

/// Adds sets 2^k apart, for k = 0, 1, ..., into the first: an order that depends on their number alone.
/// Returns the norm of the sum, for which it is still in the cache.
double add_in_tree(std::vector<ShardResult>& shards, int threads) {
  const std::size_t count = shards.size();
  const auto add_and_square = [&](Index begin, Index end) {
    for (std::size_t apart = 1; apart < count; apart *= 2)
      for (std::size_t i = 0; i + apart < count; i += 2 * apart) {
        Real* sum = shards[i].gradients.data();
        const Real* other = shards[i + apart].gradients.data();
        for (Index j = begin; j < end; ++j) sum[j] += other[j];
      }
    return sum_of_squares(shards.front().gradients.values().subspan(static_cast<std::size_t>(begin),
                                                                    static_cast<std::size_t>(end - begin)));
  };
  return std::sqrt(sum_over_chunks(shards.front().gradients.count(), threads, add_and_square));
}

}  // namespace

Trainer::Trainer(const Config& config, int threads)
    : config_(checked(config)),
      threads_(threads),
      task_(make_task(config.task, config.model.vocabulary)),
      model_(config.model, config.train.initialisation_seed),
      optimizer_(make_optimizer(config.train)) {}

Trainer::Trainer(Checkpoint checkpoint, const std::filesystem::path& file, int threads)
    : config_(checkpoint.config),
      threads_(threads),
      step_(checkpoint.step),
      task_(task_of(checkpoint)),
      model_(std::move(checkpoint.model)),
      optimizer_(make_optimizer(config_.train)) {
  restore_optimizer(file, model_.parameters(), *optimizer_);
}

Trainer::Trainer(const std::filesystem::path& checkpoint, int threads)
    : Trainer(load_checkpoint(checkpoint), checkpoint, threads) {}

Variable Trainer::loss_of(Tape& tape, const Batch& batch, Index index, const Watch& watch) const {
  const Index first = index * config_.train.shard;
  const Batch part = batch.rows(first, std::min(config_.train.shard, batch.size() - first));
  Pass pass(tape, Generator(config_.train.dropout_seed, Purpose::dropout, step_, index));
  Edits edits = interventions();
  return cross_entropy(model_(std::move(pass).watched_by(edited(edits, watch), first), part.inputs),
                       part.targets, {.divisor = static_cast<double>(batch.targets.count())});
}

Gradients Trainer::gradients_of(const Batch& batch, StepReport& report, Profile* profile) const {
  std::vector<ShardResult> shards(static_cast<std::size_t>(shards_in(batch)));
  parallel_for(shards_in(batch), threads_, [&](Index index) {
    ShardResult& shard = shards[static_cast<std::size_t>(index)];
    const Index operations_before = gemm_operations();
    Tape tape(profile == nullptr ? nullptr : &shard.profile);
    const Variable sum = loss_of(tape, batch, index);
    if (!std::isfinite(sum.item())) fail_at("loss", fault_in(batch, index));
    shard.loss = static_cast<double>(sum.item());
    shard.gradients = tape.backward(sum);
    shard.operations = gemm_operations() - operations_before;
  });
  Laps laps(profile);
  for (const ShardResult& shard : shards) {
    report.loss += shard.loss;
    report.operations += shard.operations;
    if (profile != nullptr) profile->add(shard.profile);
  }
  report.gradient_norm = add_in_tree(shards, threads_);
  laps.add_forward("reduce");
  if (!std::isfinite(report.gradient_norm)) fail_at("gradient", fault_in(batch, 0));
  return std::move(shards.front().gradients);
}

Edits Trainer::interventions() const { return interventions_at(config_, step_); }

std::string Trainer::fault_in(const Batch& batch, Index first_shard) const {
  if (const Parameters::Entry* broken = model_.parameters().first_not_finite())
    return fmt::format("shard {}: the update before left a number in {} that is not finite", first_shard,
                       broken->name);
  for (Index index = first_shard; index < shards_in(batch); ++index) {
    Tape tape;
    tape.look_for_fault();
    FaultFinder finder(tape);
    tape.backward(loss_of(tape, batch, index, {finder}));
    if (const std::string finding = finder.finding(); !finding.empty())
      return fmt::format("shard {}: {}", index, finding);
  }
  return "in no shard alone: their sum is too large";
}

void Trainer::fail_at(const char* what, const std::string& fault) const {
  throw Error(fmt::format("[train] the {} is not finite at step {}, {}; a smaller learning rate may help",
                          what, step_ + 1, fault));
}

Index Trainer::shards_in(const Batch& batch) const {
  return (batch.size() + config_.train.shard - 1) / config_.train.shard;
}

Trainer::StepReport Trainer::advance(Profile* profile) {
  Laps laps(profile);
  Generator data(config_.train.data_seed, Purpose::data, step_);
  const Batch batch = task_->sample(data, config_.train.batch);
  laps.add_forward("batch");
  StepReport report{};
  const Gradients gradients = gradients_of(batch, report, profile);
  laps.skip();  // shards have timed themselves
  report.learning_rate = scheduled_rate(config_.train, step_);
  optimizer_->set_learning_rate(report.learning_rate);
  optimizer_->step(model_.parameters(), gradients,
                   {.scale = clip_scale(report.gradient_norm, config_.train.clip), .threads = threads_});
  laps.add_forward("optimizer");
  ++step_;
  return report;
}

std::unique_ptr<Task> task_of(const Checkpoint& checkpoint) {
  const Config& config = checkpoint.config;
  std::unique_ptr<Task> task = make_task(config.task, config.model.vocabulary);
  if (task->fingerprint() != checkpoint.data)
    throw UsageError(
        fmt::format("[train] this model was trained on other data: {} or its tokenizer has changed since",
                    config.task.file));
  return task;
}

Batch evaluation_batch(const Config& config, const Task& task) {
  Generator generator(config.train.evaluation_seed, Purpose::evaluation);
  return task.sample_held_out(generator, config.train.evaluation_sequences);
}

Batch evaluation_batch(const Config& config) {
  return evaluation_batch(config, *make_task(config.task, config.model.vocabulary));
}

}  // namespace tapehead
