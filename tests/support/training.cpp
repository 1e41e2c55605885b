#include "support/training.h"

#include "support/functions.h"

namespace tapehead::testing {

Config tiny_config() {
  Config config;
  config.model = {.vocabulary = 8,
                  .context = 12,
                  .width = 8,
                  .heads = 2,
                  .layers = 2,
                  .feed_forward = 12,
                  .norm = NormKind::layer,
                  .qkv_bias = true,
                  .bias = true,
                  .tied = true,
                  .dropout = 0.1};
  config.task.length = 12;
  config.task.period_min = 3;
  config.task.period_max = 6;
  config.train.steps = 10;
  config.train.batch = 7;
  config.train.shard = 2;
  config.train.warmup = 3;
  config.train.schedule = "cosine";
  config.train.evaluation_interval = 4;
  config.train.evaluation_sequences = 9;
  config.train.checkpoint_interval = 5;
  return config;
}

Tensor values_of(const Parameters& parameters) { return Tensor({parameters.count()}, parameters.values()); }

bool same_bits(const Parameters& a, const Parameters& b) { return same_bits(values_of(a), values_of(b)); }

bool same_bits(const Optimizer& a, const Optimizer& b) {
  if (a.steps() != b.steps() || a.state().size() != b.state().size()) return false;
  for (std::size_t i = 0; i < a.state().size(); ++i)
    if (a.state()[i].name != b.state()[i].name || !same_bits(a.state()[i].values, b.state()[i].values))
      return false;
  return true;
}

bool same_bits(const Trainer& a, const Trainer& b) {
  return a.step() == b.step() && same_bits(a.model().parameters(), b.model().parameters()) &&
         same_bits(a.optimizer(), b.optimizer());
}

}  // namespace tapehead::testing
