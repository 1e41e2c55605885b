#include "tapehead/train/benchmark.h"

#include <algorithm>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/tensor/memory.h"
#include "tapehead/train/joint_run.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

using Clock = Profile::Clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Between two values, their mean by distance.
Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

/// Calls `step` at least three times, and on until `seconds` are over on some rank, or `steps` times; returns
/// what each call took.
template <class Step>
std::vector<double> timed(Index steps, double seconds, Ranks& ranks, const Step& step) {
  const Clock::time_point start = Clock::now();
  std::vector<double> times;
  const auto enough = [&] {
    return steps > 0 ? static_cast<Index>(times.size()) >= steps
                     : times.size() >= 3 && ranks.any(seconds_since(start) >= seconds, "clock");
  };
  while (!enough()) {
    const Clock::time_point before = Clock::now();
    step();
    times.push_back(seconds_since(before));
  }
  return times;
}

/// Operations a second of square products whose matrices stay in the cache, on all threads of all ranks.
double peak_operations(const Workers& workers) {
  constexpr Index kSize = 192;
  constexpr Index kRepeats = 20;
  const auto product = [&](Index) {
    const Buffer a = allocate(kSize * kSize);
    const Buffer b = allocate(kSize * kSize);
    const Buffer c = allocate(kSize * kSize);
    std::fill_n(a.get(), kSize * kSize, Real{1});
    std::fill_n(b.get(), kSize * kSize, Real{1});
    for (Index i = 0; i < kRepeats; ++i)
      gemm(c.get(), kSize, {a.get(), kSize}, {b.get(), kSize}, kSize, kSize, kSize, 1, 0);
  };
  const int threads = workers.threads;
  const std::vector<double> times =
      timed(0, 0.2, workers.ranks, [&] { parallel_for(threads, threads, product); });
  const double operations = static_cast<double>(2 * kSize * kSize * kSize * kRepeats * threads);
  const double here = operations / *std::min_element(times.begin(), times.end());
  double everywhere = 0;
  for (const double rank : workers.ranks.gather({&here, 1}, "peak")) everywhere += rank;
  return everywhere;
}

}  // namespace

Config with_drawn_weights(Config config) {
  if (config.model.initialisation == Initialisation::imported)
    config.model.initialisation = Initialisation::fan_in;
  return config;
}

Benchmark benchmark(const Config& config, const BenchmarkOptions& options) {
  require(options.seconds >= 0 && options.steps >= 0,
          "[benchmark] expected seconds and steps of at least 0, got {} and {}", options.seconds,
          options.steps);
  Ranks& ranks = options.workers.ranks;
  Trainer trainer(config, options.workers);
  start_together(trainer);
  require_same_on_all(ranks, fmt::format("{} {}", options.steps, options.seconds),
                      "steps or seconds to time");
  Benchmark result{};
  reset_peak_memory();
  // The first steps fetch memory from the system; later ones find it there.
  for (int i = 0; i < 3; ++i) result.operations = trainer.advance().operations;
  ranks.forget_traffic();
  const std::vector<double> times = timed(options.steps, options.seconds, ranks, [&] { trainer.advance(); });
  result.traffic = ranks.traffic();
  result.steps = static_cast<Index>(times.size());
  result.step_seconds = quartiles(times);
  result.peak_bytes = memory_use().peak;
  result.tokens = config.train.batch * trainer.task().length();
  result.profiled_steps = static_cast<Index>(
      timed(options.steps, options.seconds, ranks, [&] { trainer.advance(&result.profile); }).size());
  result.peak_operations = peak_operations(options.workers);
  return result;
}

}  // namespace tapehead
