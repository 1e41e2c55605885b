#include "tapehead/base/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

std::uint32_t as_counter_word(Index value, const char* what) {
  require(value >= 0 && value <= std::numeric_limits<std::uint32_t>::max(),
          "[random] expected {} between 0 and 2^32 - 1, got {}", what, value);
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Generator::Generator(std::uint64_t seed, Purpose purpose, Index step, Index shard)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, as_counter_word(shard, "shard"), as_counter_word(step, "step"),
               static_cast<std::uint32_t>(purpose)} {}

void Generator::refill() {
  require(counter_[0] != std::numeric_limits<std::uint32_t>::max(),
          "[random] one stream gives fewer than 2^34 numbers; start another step or shard");
  const auto out =
      r123::Philox4x32()({{counter_[0], counter_[1], counter_[2], counter_[3]}}, {{key_[0], key_[1]}});
  block_ = {out[0], out[1], out[2], out[3]};
  used_ = 0;
  ++counter_[0];
}

std::uint32_t Generator::bits() {
  if (used_ == 4) refill();
  return block_[static_cast<std::size_t>(used_++)];
}

double Generator::uniform() {
  const std::uint64_t high = bits();
  const std::uint64_t low = bits();
  return static_cast<double>(((high << 32) | low) >> 11) * 0x1.0p-53;
}

double Generator::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
}

Index Generator::below(Index n) {
  constexpr std::uint64_t range = std::uint64_t{1} << 32;
  require(n >= 1 && static_cast<std::uint64_t>(n) <= range,
          "[random] expected a bound between 1 and 2^32, got {}", n);
  const std::uint64_t bound = static_cast<std::uint64_t>(n);
  const std::uint64_t fair = range - range % bound;  // draws at or above it would favour small results
  for (;;) {
    const std::uint64_t draw = bits();
    if (draw < fair) return static_cast<Index>(draw % bound);
  }
}

}  // namespace tapehead
