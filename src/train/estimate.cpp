#include "tapehead/train/estimate.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "tapehead/base/require.h"
#include "tapehead/nn/pass_cost.h"
#include "tapehead/tensor/memory.h"
#include "tapehead/train/benchmark.h"
#include "tapehead/train/gradient_sum.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

constexpr Index kMostRanks = 1'000'000;
constexpr Index kNumber = sizeof(Real);

template <class... Args>
void require_usage(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw UsageError(fmt::format(message, std::forward<Args>(args)...));
}

void check(const Machines& machines) {
  require_usage(machines.ranks >= 1, "[estimate] expected at least one rank, got {}", machines.ranks);
  require_usage(machines.ranks <= kMostRanks, "[estimate] expected at most {} ranks, got {}", kMostRanks,
                machines.ranks);
  require_usage(machines.threads >= 1, "[estimate] expected at least one thread, got {}", machines.threads);
  const auto above_zero = [](double rate, const char* name) {
    require_usage(rate > 0, "[estimate] expected {} above 0, got {}", name, rate);
  };
  above_zero(machines.operations_per_second, "operations_per_second");
  above_zero(machines.memory_bytes_per_second, "memory_bytes_per_second");
  above_zero(machines.network_bytes_per_second, "network_bytes_per_second");
  require_usage(machines.seconds_per_message >= 0,
                "[estimate] expected seconds_per_message of at least 0, got {}",
                machines.seconds_per_message);
}

/// A step of all ranks: the batch's shards, of which the last may be smaller.
struct Step {
  Index parameters;
  Index averages;  // sets of them
  Index shards;
  PassCost whole;
  PassCost last;
  Index model_bytes;
};

Step step_of(const Config& config) {
  const TrainConfig& train = config.train;
  const Index shard = std::min(train.shard, train.batch);
  const Index shards = (train.batch + train.shard - 1) / train.shard;
  const Index rest = train.batch - (shards - 1) * shard;
  const Step step{.parameters = static_cast<Index>(count_parameters(config.model)),
                  .averages = train.optimizer == "sgd" ? 1 : 2,
                  .shards = shards,
                  .whole = pass_cost(config.model, shard, config.task.length),
                  .last = pass_cost(config.model, rest, config.task.length),
                  .model_bytes = model_bytes(config.model)};
  const double sets = static_cast<double>(shards) * static_cast<double>(block_bytes(step.parameters));
  const double operations = static_cast<double>(shards) * static_cast<double>(step.whole.operations);
  require(std::max(sets, operations) < 0x1.0p61, "[estimate] {} shards of a step are too many to count",
          shards);
  return step;
}

/// What one rank does in a step.
class Rank {
 public:
  Rank(const Step& step, const Machines& machines, Index number)
      : step_(step),
        machines_(machines),
        number_(number),
        range_(share_of(step.shards, number, machines.ranks)),
        held_(sets_held(range_, step.shards)),
        sums_(static_cast<Index>(subtrees_within(range_, step.shards).size())),
        part_(step.parameters / kSegment * share_of(kSegment, number, machines.ranks).count() +
              share_of(step.parameters % kSegment, number, machines.ranks).count()) {}

  Index shards() const { return range_.count(); }
  /// Of subtrees that are all its own.
  Index sums() const { return sums_; }

  /// Its sums but for the part that it finishes itself, then that part to all. `all_sums` are everybody's.
  Index sent_bytes() const {
    return kNumber * (sums_ * (step_.parameters - part_) + part_ * (machines_.ranks - 1));
  }
  Index received_bytes(Index all_sums) const {
    return kNumber * (received_sums(all_sums) + step_.parameters - part_);
  }
  Index messages() const {
    return (step_.parameters + kSegment - 1) / kSegment * (machines_.ranks - 1) * (sums_ + 1);
  }
  /// An array for every sum that comes, of one segment.
  Index exchange_bytes(Index all_sums) const {
    const Index part = share_of(std::min(kSegment, step_.parameters), number_, machines_.ranks).count();
    return all_sums == sums_ ? 0 : (all_sums - sums_) * block_bytes(part);
  }

  /// On several threads others may be at work beside the shard that is counted.
  Index gradient_bytes() const {
    const Index most = *std::ranges::max_element(held_) + machines_.threads - 1;
    return sets_bytes(shards() == 0 ? 0 : std::min(most, shards()));
  }
  Index left_gradient_bytes() const { return sets_bytes(held_.back()); }
  Index activation_bytes() const { return std::max(with_last(kArrays), without_last(kArrays)); }
  Index mask_bytes() const { return std::max(with_last(kMasks), without_last(kMasks)); }
  /// Gradients and activations at their peak. The batch's last shard may be much smaller than the others.
  Index running_bytes() const {
    if (shards() == 0) return sets_bytes(0);
    const Index beside = std::min<Index>(machines_.threads, shards()) - 1;
    Index before_last = 0;
    for (Index i = 0; i + 1 < shards(); ++i)
      before_last = std::max(before_last, held_[static_cast<std::size_t>(i)]);
    const auto sets = [&](Index held) { return sets_bytes(std::min(held + beside, shards())); };
    const Index last = sets(held_[static_cast<std::size_t>(shards() - 1)]) + with_last(kArrays);
    return shards() == 1 ? last : std::max(last, sets(before_last) + without_last(kArrays));
  }

  /// Threads take shards in order, each when it is free.
  double compute_seconds() const {
    if (shards() == 0) return 0;
    const Index others = shards() - 1;
    const auto rounds = static_cast<double>((others + machines_.threads - 1) / machines_.threads);
    const auto before_last = static_cast<double>(others / machines_.threads);
    const auto whole = static_cast<double>(step_.whole.operations);
    const auto last = static_cast<double>(last_shard().operations);
    return std::max(rounds * whole, before_last * whole + last) / machines_.operations_per_second;
  }

  /// Bytes that adding and updating read and write: every set once, the sum of every two, and both of two
  /// blocks and their sum; all gradients, to see that they are finite; parameters and averages both ways and
  /// gradients once more (optimizer.cpp).
  /// Of several ranks also the sums that came, and the whole once more for its norm.
  double moved_bytes(Index all_sums) const {
    const Index blocks = shards() / kShardsAddedAtOnce;
    const Index sets =
        shards() + shards() / 2 + 3 * std::max<Index>(0, blocks - 1) + 1 + 2 * (1 + step_.averages) + 1;
    const Index exchanged = machines_.ranks == 1 ? 0 : received_sums(all_sums) + step_.parameters;
    return static_cast<double>(kNumber) * (static_cast<double>(sets) * static_cast<double>(step_.parameters) +
                                           static_cast<double>(exchanged));
  }

  double exchange_seconds(Index all_sums) const {
    if (machines_.ranks == 1) return 0;
    const auto bytes = static_cast<double>(std::max(sent_bytes(), received_bytes(all_sums)));
    return bytes / machines_.network_bytes_per_second +
           static_cast<double>(messages()) * machines_.seconds_per_message;
  }

 private:
  static constexpr auto kArrays = &PassCost::array_bytes;
  static constexpr auto kMasks = &PassCost::mask_bytes;

  const PassCost& last_shard() const { return range_.last == step_.shards ? step_.last : step_.whole; }
  /// Of the shards that run at once: the last of the rank and as many others as there are threads for, or
  /// others alone.
  Index with_last(Index PassCost::*bytes) const {
    if (shards() == 0) return 0;
    const Index others = std::min<Index>(machines_.threads, shards()) - 1;
    return others * step_.whole.*bytes + last_shard().*bytes;
  }
  Index without_last(Index PassCost::*bytes) const {
    const Index others = std::min<Index>(machines_.threads, shards() - 1);
    return others < 1 ? 0 : others * step_.whole.*bytes;
  }
  /// There is one set, for the sum, also where there is no shard.
  Index sets_bytes(Index sets) const { return std::max<Index>(1, sets) * block_bytes(step_.parameters); }
  Index received_sums(Index all_sums) const { return (all_sums - sums_) * part_; }

  const Step& step_;
  const Machines& machines_;
  Index number_;
  Range range_;
  std::vector<Index> held_;
  Index sums_;
  Index part_;  // how many numbers it finishes
};

void keep_larger(Index& most, Index value) { most = std::max(most, value); }
void keep_larger(double& most, double value) { most = std::max(most, value); }

void add_ranks(StepEstimate& estimate, const Step& step, const Machines& machines) {
  Index all_sums = 0;
  for (Index r = 0; r < machines.ranks; ++r) all_sums += Rank(step, machines, r).sums();
  StepEstimate::Memory& memory = estimate.memory;
  for (Index r = 0; r < machines.ranks; ++r) {
    const Rank rank(step, machines, r);
    keep_larger(estimate.shards_of_rank, rank.shards());
    keep_larger(memory.gradients, rank.gradient_bytes());
    keep_larger(memory.activations, rank.activation_bytes());
    keep_larger(memory.masks, rank.mask_bytes());
    keep_larger(memory.exchange, rank.exchange_bytes(all_sums));
    keep_larger(memory.arrays, memory.model + memory.averages +
                                   std::max(rank.running_bytes(),
                                            rank.left_gradient_bytes() + rank.exchange_bytes(all_sums)));
    keep_larger(estimate.seconds.compute, rank.compute_seconds());
    keep_larger(estimate.seconds.update, rank.moved_bytes(all_sums) / machines.memory_bytes_per_second);
    keep_larger(estimate.sent_bytes, rank.sent_bytes());
    keep_larger(estimate.received_bytes, rank.received_bytes(all_sums));
    keep_larger(estimate.messages, rank.messages());
    keep_larger(estimate.seconds.exchange, rank.exchange_seconds(all_sums));
  }
}

StepEstimate estimate_of(const Step& step, const Config& config, const Machines& machines) {
  StepEstimate estimate{};
  estimate.parameters = step.parameters;
  estimate.tokens = config.train.batch * config.task.length;
  estimate.shards = step.shards;
  estimate.operations = (step.shards - 1) * step.whole.operations + step.last.operations;
  estimate.memory.model = step.model_bytes;
  estimate.memory.averages = step.averages * block_bytes(step.parameters);
  add_ranks(estimate, step, machines);
  estimate.tokens_per_second = static_cast<double>(estimate.tokens) / estimate.seconds.step();
  return estimate;
}

}  // namespace

StepEstimate estimate_step(const Config& config, const Machines& machines) {
  validate(config);
  check(machines);
  const Step step = step_of(config);
  StepEstimate estimate = estimate_of(step, config, machines);
  Machines alone = machines;
  alone.ranks = 1;
  estimate.efficiency = estimate.tokens_per_second / static_cast<double>(machines.ranks) /
                        estimate_of(step, config, alone).tokens_per_second;
  return estimate;
}

Machines measured_rates(const Config& given, int threads, double seconds) {
  using Clock = Profile::Clock;
  Config config = with_drawn_weights(given);
  config.train.batch = std::min(config.train.shard, config.train.batch);
  config.train.learning_rate = 0;  // as fast, and cannot diverge
  config.interventions.clear();
  Trainer trainer(config, threads);
  trainer.advance();
  Profile profile;
  double steps = 0;
  double passed = 0;
  for (const Clock::time_point start = Clock::now(); steps == 0 || passed < seconds; ++steps) {
    trainer.advance(&profile);
    passed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  const auto taken = [&](std::string_view name) {
    return std::ranges::find(profile.entries(), name, &Profile::Entry::name)->forward;
  };
  const double update = taken("reduce") + taken("optimizer");
  const Step step = step_of(config);
  Machines machines;
  machines.operations_per_second =
      steps * static_cast<double>(step.whole.operations) / (passed - update - taken("batch"));
  machines.memory_bytes_per_second = steps * Rank(step, machines, 0).moved_bytes(1) / update;
  return machines;
}

}  // namespace tapehead
