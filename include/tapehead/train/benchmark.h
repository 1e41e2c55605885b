/// How fast a config trains, and where the time goes.
#pragma once

#include <vector>

#include "tapehead/autograd/profile.h"
#include "tapehead/base/ranks.h"
#include "tapehead/train/config.h"

namespace tapehead {

/// The middle of some times, and the quarters around it.
struct Quartiles {
  double low;
  double median;
  double high;
};

struct Benchmark {
  Index steps;  ///< that were timed, after some that were not
  Quartiles step_seconds;
  Index tokens;            ///< a step
  Index operations;        ///< a step: multiplications and additions of matrix products
  double peak_operations;  ///< a second, of products that fit the caches, on as many threads and ranks
  Index peak_bytes;        ///< of all arrays at once; on several threads it depends on how shards meet
  std::vector<Ranks::Traffic> traffic;  ///< of this rank in all timed steps, by what was sent
  Profile profile;                      ///< of further steps, not of those that were timed
  Index profiled_steps;
};

struct BenchmarkOptions {
  Workers workers = 1;
  double seconds = 2;  ///< about how long steps are timed, and again how long they are profiled
  Index steps = 0;     ///< just so many instead; 0: as `seconds` says
};

/// The config of a fresh model that costs as much: weights are drawn where they would have been imported.
Config with_drawn_weights(Config config);

/// Trains such a model of this config, for its speed alone: nothing is evaluated or written. All ranks of a
/// job do it together, and each has the result as it saw it.
Benchmark benchmark(const Config& config, const BenchmarkOptions& options);

}  // namespace tapehead
