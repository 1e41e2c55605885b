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
#include "tapehead/train/gradient_sum.h"
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
  double loss = 0;
  Index operations = 0;
  Profile profile;
};

/// The losses and operations of all shards of a batch, from all ranks.
struct ShardNumbers {
  std::vector<double> losses;
  Index operations = 0;
};

ShardNumbers gathered(const std::vector<ShardResult>& own, Index shards, Ranks& ranks) {
  // As many from each rank, though some own a shard less.
  const Index most = (shards + ranks.count() - 1) / ranks.count();
  std::vector<double> mine(static_cast<std::size_t>(2 * most));
  for (std::size_t i = 0; i < own.size(); ++i) {
    mine[2 * i] = own[i].loss;
    mine[2 * i + 1] = static_cast<double>(own[i].operations);
  }
  const std::vector<double> all = ranks.gather(mine, "losses");
  ShardNumbers numbers;
  for (int rank = 0; rank < ranks.count(); ++rank)
    for (Index i = 0; i < share_of(shards, rank, ranks.count()).count(); ++i) {
      const auto place = static_cast<std::size_t>(2 * (rank * most + i));
      numbers.losses.push_back(all[place]);
      numbers.operations += static_cast<Index>(all[place + 1]);
    }
  return numbers;
}

}  // namespace

Trainer::Trainer(const Config& config, const Workers& workers)
    : config_(checked(config)),
      workers_(workers),
      task_(make_task(config.task, config.model.vocabulary)),
      model_(config.model, config.train.initialisation_seed),
      optimizer_(make_optimizer(config.train)) {}

Trainer::Trainer(Checkpoint checkpoint, const std::filesystem::path& file, const Workers& workers)
    : config_(checkpoint.config),
      workers_(workers),
      step_(checkpoint.step),
      task_(task_of(checkpoint)),
      model_(std::move(checkpoint.model)),
      optimizer_(make_optimizer(config_.train)) {
  restore_optimizer(file, model_.parameters(), *optimizer_);
}

Trainer::Trainer(const std::filesystem::path& checkpoint, const Workers& workers)
    : Trainer(load_checkpoint(checkpoint), checkpoint, workers) {}

void Trainer::restore(Snapshot snapshot) {
  require(snapshot.values.count() == model_.parameters().count(),
          "[train] expected a state of {} parameters, got {}", model_.parameters().count(),
          snapshot.values.count());
  std::ranges::copy(snapshot.values.values(), model_.parameters().change().begin());
  optimizer_->restore(snapshot.updates, std::move(snapshot.averages));
  step_ = snapshot.step;
}

Variable Trainer::loss_of(Tape& tape, const Batch& batch, Index index, const Watch& watch) const {
  const Index first = index * config_.train.shard;
  const Batch part = batch.rows(first, std::min(config_.train.shard, batch.size() - first));
  Pass pass(tape, Generator(config_.train.dropout_seed, Purpose::dropout, step_, index));
  Edits edits = interventions();
  return cross_entropy(model_(std::move(pass).watched_by(edited(edits, watch), first), part.inputs),
                       part.targets, {.divisor = static_cast<double>(batch.targets.count())});
}

Gradients Trainer::gradients_of(const Batch& batch, StepReport& report, Profile* profile) const {
  const Index all = shards_of(batch.size());
  const Range own = share_of(all, ranks().rank(), ranks().count());
  std::vector<ShardResult> shards(static_cast<std::size_t>(own.count()));
  GradientTree tree(all, model_.parameters().count(), workers_);
  parallel_for(own.count(), threads(), [&](Index index) {
    ShardResult& shard = shards[static_cast<std::size_t>(index)];
    const Index operations_before = gemm_operations();
    Tape tape(profile == nullptr ? nullptr : &shard.profile);
    const Variable sum = loss_of(tape, batch, own.first + index);
    shard.loss = static_cast<double>(sum.item());
    if (!std::isfinite(shard.loss)) return;
    Gradients gradients = tape.backward(sum);
    Laps laps(profile == nullptr ? nullptr : &shard.profile);
    if (tree.put(own.first + index, std::move(gradients))) laps.add_forward("merge");
    shard.operations = gemm_operations() - operations_before;
  });
  Laps laps(profile);
  const ShardNumbers numbers = gathered(shards, all, ranks());
  report.operations = numbers.operations;
  for (const double loss : numbers.losses) report.loss += loss;
  // Every rank comes to the same finding, and none waits for another.
  const auto broken =
      std::ranges::find_if_not(numbers.losses, [](double loss) { return std::isfinite(loss); });
  if (broken != numbers.losses.end()) fail_at("loss", fault_in(batch, broken - numbers.losses.begin()));
  for (const ShardResult& shard : shards)
    if (profile != nullptr) profile->add(shard.profile);
  GradientSum sum = tree.sum();
  report.gradient_norm = sum.norm;
  laps.add_forward("reduce");
  if (!std::isfinite(report.gradient_norm)) fail_at("gradient", fault_in(batch, 0));
  return std::move(sum.gradients);
}

Edits Trainer::interventions() const { return interventions_at(config_, step_); }

std::string Trainer::fault_in(const Batch& batch, Index first_shard) const {
  if (const Parameters::Entry* broken = model_.parameters().first_not_finite())
    return fmt::format("shard {}: the update before left a number in {} that is not finite", first_shard,
                       broken->name);
  for (Index index = first_shard; index < shards_of(batch.size()); ++index) {
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

Index Trainer::shards_of(Index sequences) const {
  return (sequences + config_.train.shard - 1) / config_.train.shard;
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
                   {.scale = clip_scale(report.gradient_norm, config_.train.clip), .threads = threads()});
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

bool is_evaluation_step(const TrainConfig& config, Index step) {
  return step == config.steps || step % config.evaluation_interval == 0;
}

Evaluation evaluate_in_training(const Trainer& trainer, const Batch& batch, const Watch& watch) {
  Edits edits = trainer.interventions();
  return evaluate(trainer.model(), batch, edited(edits, watch),
                  {.threads = trainer.threads(), .ranks = &trainer.ranks()});
}

}  // namespace tapehead
