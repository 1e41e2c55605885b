/// Counter-based random numbers: a draw is a function of (seed, purpose, step, shard, how many came before).
///
/// Nothing is shared and nothing is hidden, so the same numbers come on any number of threads and after a
/// resume. The function is Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
#pragma once

#include <array>
#include <cstdint>

#include "tapehead/base/number.h"

namespace tapehead {

/// What the numbers are for. Streams of different purposes never meet, even with equal seeds.
enum class Purpose : std::uint32_t { initialisation, data, dropout, evaluation, bootstrap, sampling, probe };

class Generator {
 public:
  /// The stream for one purpose, and, where wanted, for one step and one shard (or parameter) of it.
  explicit Generator(std::uint64_t seed, Purpose purpose = Purpose::data, Index step = 0, Index shard = 0);

  /// 32 fresh random bits.
  std::uint32_t bits();
  /// Uniform on [0, 1), 53 bits.
  double uniform();
  /// Standard normal (Box-Muller).
  double normal();
  /// Uniform on {0, ..., n-1}, without bias. Throws Error unless 1 <= n <= 2^32.
  Index below(Index n);

 private:
  void refill();

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;
};

}  // namespace tapehead
