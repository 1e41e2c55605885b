#include "tapehead/train/joint_run.h"

#include <utility>

#include "tapehead/base/digest.h"
#include "tapehead/base/file.h"
#include "tapehead/base/machine.h"
#include "tapehead/base/require.h"
#include "tapehead/base/version.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/config_fields.h"
#include "tapehead/train/gradient_sum.h"

namespace tapehead {

namespace {

/// Throws unless `own` is what rank 0 has; `difference(theirs, ours)` says in what the two differ.
template <class Difference>
void require_same(Ranks& ranks, const std::string& own, const char* what, const Difference& difference) {
  const std::vector<std::string> all = ranks.gather(own, what);
  for (int rank = 1; rank < ranks.count(); ++rank)
    if (const std::string& theirs = all[static_cast<std::size_t>(rank)]; theirs != all[0])
      throw UsageError(fmt::format("[ranks] {} {}; give every rank the same program, config and data",
                                   ranks.name(rank), difference(theirs, all[0])));
}

/// The version, and of which build: another compiler's or machine's may round otherwise.
std::string program() {
  Digest digest;
  digest.add(MappedFile("/proc/self/exe", "ranks").bytes());
  return fmt::format("tapehead {}, build {}", version(), digest.text());
}

std::string difference_of_configs(const std::string& theirs, const std::string& ours) {
  const auto fields = differences(parse_config(theirs, "config"), parse_config(ours, "config"));
  return fmt::format("has another config: {} is {} there and {} on rank 0", fields.front().name,
                     fields.front().first, fields.front().second);
}

void require_same_start(const Trainer& trainer) {
  Ranks& ranks = trainer.ranks();
  require_same_program(ranks);
  require_same(ranks, to_toml(trainer.config()), "config", difference_of_configs);
  require_same(ranks, trainer.task().fingerprint(), "data", [&](const std::string&, const std::string&) {
    return fmt::format("has other data: {} or its tokenizer is not what it is on rank 0",
                       trainer.config().task.file);
  });
}

void share_state(Trainer& trainer) {
  Ranks& ranks = trainer.ranks();
  Snapshot state = snapshot_of(trainer.model(), trainer.optimizer(), trainer.step());
  // The others begin at step 0, and have no averages yet.
  std::vector<double> counts{static_cast<double>(state.step), static_cast<double>(state.updates)};
  counts = ranks.gather(counts, "step");
  state.step = static_cast<Index>(counts[0]);
  state.updates = static_cast<Index>(counts[1]);
  ranks.broadcast(state.values.values(), "parameters");
  for (Optimizer::State& average : state.averages) {
    if (state.updates > 0 && average.values.count() == 0) average.values = Tensor(state.values.shape());
    ranks.broadcast(average.values.values(), "averages");
  }
  trainer.restore(std::move(state));
}

std::string warning_of(const Trainer& trainer) {
  Ranks& ranks = trainer.ranks();
  const Index shards = trainer.shards();
  const std::vector<std::string> processors = ranks.gather(processor(), "processors");
  std::string warning;
  if (shards < ranks.count())
    warning =
        fmt::format("{} of {} ranks have nothing to train: a batch of {} has {} shard{} of {} (train.shard)",
                    ranks.count() - shards, ranks.count(), trainer.config().train.batch, shards,
                    shards == 1 ? "" : "s", trainer.config().train.shard);
  for (int rank = 1; rank < ranks.count(); ++rank) {
    const std::string& there = processors[static_cast<std::size_t>(rank)];
    if (there == processors[0]) continue;
    warning += fmt::format(
        "{}{} has another processor ({}) than rank 0 ({}): the bits may not be those of one machine alone",
        warning.empty() ? "" : "; ", ranks.name(rank), there, processors[0]);
    break;
  }
  return warning;
}

}  // namespace

std::string start_together(Trainer& trainer) {
  if (trainer.ranks().alone()) return {};
  require_same_start(trainer);
  share_state(trainer);
  return warning_of(trainer);
}

void require_same_program(Ranks& ranks) {
  require_same(ranks, program(), "program", [](const std::string& theirs, const std::string& ours) {
    return fmt::format("is {}, and rank 0 is {}", theirs, ours);
  });
}

void require_same_on_all(Ranks& ranks, const std::string& own, const char* what) {
  require_same(ranks, own, what, [&](const std::string&, const std::string&) {
    return fmt::format("has other {} than rank 0", what);
  });
}

Config config_of_rank_0(const Config& own, Ranks& ranks) {
  const std::string text = ranks.broadcast(ranks.leads() ? to_toml(own) : std::string(), "config");
  return ranks.leads() ? own : parse_config(text, "the config of rank 0");
}

bool follow_run(Trainer& trainer, const Watch& watch, const std::function<bool()>& should_stop) {
  const TrainConfig& config = trainer.config().train;
  const Index last = config.steps;
  const Batch batch = evaluation_batch(trainer.config(), trainer.task());
  if (trainer.step() == 0) evaluate_in_training(trainer, batch, watch);
  while (trainer.step() < last) {
    trainer.advance();
    if (is_evaluation_step(config, trainer.step())) evaluate_in_training(trainer, batch, watch);
    if (trainer.step() < last && trainer.ranks().any(should_stop && should_stop(), "stop")) return false;
  }
  return true;
}

}  // namespace tapehead
