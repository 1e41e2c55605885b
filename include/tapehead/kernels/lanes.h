/// The vectors that kernels work in: as many numbers as one instruction takes, through xsimd.
///
/// Included by the sources of kernels only, since the type changes with compiler flags.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <xsimd/xsimd.hpp>

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

using Lanes = xsimd::batch<Real>;
inline constexpr Index kLanes = static_cast<Index>(Lanes::size);

/// `count` numbers, at most kLanes, and `rest` in the lanes that are left.
inline Lanes load(const Real* from, Index count, Real rest = 0) {
  if (count == kLanes) return Lanes::load_unaligned(from);
  std::array<Real, Lanes::size> part;
  part.fill(rest);
  std::copy_n(from, count, part.begin());
  return Lanes::load_unaligned(part.data());
}

/// The first `count` lanes.
inline void store(Real* to, const Lanes& value, Index count) {
  if (count == kLanes) {
    value.store_unaligned(to);
    return;
  }
  std::array<Real, Lanes::size> part;
  value.store_unaligned(part.data());
  std::copy_n(part.begin(), count, to);
}

/// Puts the first `count` lanes where a sink says.
inline void put(const Sink& sink, const Lanes& value, Index count) {
  store(sink.data, sink.keep == 0 ? value : value + load(sink.data, count), count);
}

/// 0, 1, 2, ...: the number of each lane.
inline Lanes lane_numbers() {
  std::array<Real, Lanes::size> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Real>(i);
  return Lanes::load_unaligned(numbers.data());
}

/// Calls f(offset, lanes in use) over `count` numbers; f must touch only the lanes in use.
template <class F>
void for_each_lanes(Index count, const F& f) {
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) f(i, kLanes);
  if (i < count) f(i, count - i);
}

template <std::size_t Distance, std::size_t... I>
Lanes rotated(const Lanes& value, std::index_sequence<I...>) {
  return Lanes(__builtin_shufflevector(value.data, value.data, ((I + Distance) % Lanes::size)...));
}

/// All lanes brought together by an operation of two: op(op(a, b), op(c, d)) and so on.
template <std::size_t Distance = Lanes::size / 2, class Op>
Real reduce(const Lanes& value, const Op& op) {
  if constexpr (Distance == 0)
    return value.get(0);
  else
    return reduce<Distance / 2>(op(value, rotated<Distance>(value, std::make_index_sequence<Lanes::size>())),
                                op);
}

inline Real sum_of(const Lanes& value) {
  return reduce(value, [](const Lanes& a, const Lanes& b) { return a + b; });
}
inline Real largest_of(const Lanes& value) {
  return reduce(value, [](const Lanes& a, const Lanes& b) { return xsimd::max(a, b); });
}

/// The numbers of a and b by turns, from number First of each.
template <std::size_t First, std::size_t... I>
Lanes interleaved(const Lanes& a, const Lanes& b, std::index_sequence<I...>) {
  return Lanes(__builtin_shufflevector(a.data, b.data, (First + I / 2 + I % 2 * Lanes::size)...));
}

/// As many vectors as a vector has lanes.
using Square = std::array<Lanes, Lanes::size>;

/// Interleaving the first half of the rows with the second, once for each bit of a row's number, transposes.
inline void transpose(Square& rows) {
  constexpr auto places = std::make_index_sequence<Lanes::size>();
  constexpr std::size_t half = Lanes::size / 2;
#pragma GCC unroll 4
  for (std::size_t bit = 1; bit < Lanes::size; bit *= 2) {
    Square next;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < half; ++i) {
      next[2 * i] = interleaved<0>(rows[i], rows[i + half], places);
      next[2 * i + 1] = interleaved<half>(rows[i], rows[i + half], places);
    }
    rows = next;
  }
}

}  // namespace tapehead::kernels
