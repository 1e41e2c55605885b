#include "tapehead/base/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "support/testing.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

std::vector<std::uint32_t> first_bits(Generator generator, int count = 8) {
  std::vector<std::uint32_t> bits;
  for (int i = 0; i < count; ++i) bits.push_back(generator.bits());
  return bits;
}

}  // namespace

TEST_CASE("key 0 and counter 0 give the published numbers of Philox4x32-10") {
  CHECK(first_bits(Generator(0, Purpose::initialisation), 4) ==
        std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
}

TEST_CASE("seed is the key and (block, shard, step, purpose) is the counter") {
  // Computed by a separate implementation that gives all three published vectors of Philox4x32-10.
  const Generator generator(0x0123456789abcdef, Purpose::dropout, 7, 5);
  CHECK(first_bits(generator) == std::vector<std::uint32_t>{0x31e5b91b, 0x2f654026, 0xc508e174, 0x6fad843f,
                                                            0x4d9cf43e, 0xac702602, 0x5c04d8f8, 0x24e56900});
}

TEST_CASE("the same seed, purpose, step and shard give the same numbers") {
  Generator a(3, Purpose::data, 4, 5);
  Generator b(3, Purpose::data, 4, 5);
  for (int i = 0; i < 100; ++i) {
    CHECK(a.bits() == b.bits());
    CHECK(a.uniform() == b.uniform());
    CHECK(a.normal() == b.normal());
    CHECK(a.below(10) == b.below(10));
  }
}

TEST_CASE(
    "a copy of a generator goes on with the same numbers, also between the two halves of a normal pair") {
  Generator a(3);
  a.normal();
  Generator b = a;
  for (int i = 0; i < 9; ++i) CHECK(a.normal() == b.normal());
}

TEST_CASE("streams of another seed, purpose, step or shard share no block") {
  std::set<std::vector<std::uint32_t>> blocks;
  std::size_t streams = 0;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32})
    for (const Purpose purpose :
         {Purpose::initialisation, Purpose::data, Purpose::dropout, Purpose::evaluation, Purpose::bootstrap})
      for (const Index step : {0, 1, 2})
        for (const Index shard : {0, 1, 2}) {
          const std::vector<std::uint32_t> bits = first_bits(Generator(seed, purpose, step, shard));
          blocks.emplace(bits.begin(), bits.begin() + 4);
          blocks.emplace(bits.begin() + 4, bits.end());
          ++streams;
        }
  CHECK(streams == 135);
  CHECK(blocks.size() == 2 * streams);
}

TEST_CASE("a step or shard that does not fit the counter is refused") {
  const Index last = 0xffffffff;
  CHECK_NOTHROW(Generator(0, Purpose::data, last, last));
  CHECK_THROWS_WITH_AS(Generator(0, Purpose::data, last + 1),
                       "[random] expected step between 0 and 2^32 - 1, got 4294967296", Error);
  CHECK_THROWS_WITH_AS(Generator(0, Purpose::data, 0, -1),
                       "[random] expected shard between 0 and 2^32 - 1, got -1", Error);
}

TEST_CASE("a uniform draw is 53 bits of two words, from 0 to below 1") {
  Generator known(0, Purpose::initialisation);
  CHECK(known.uniform() == 0.3990464708489645);
  CHECK(known.uniform() == 0.7357127844834425);
  Generator generator(11);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = generator.uniform();
    REQUIRE(value >= 0);
    REQUIRE(value < 1);
    sum += value;
  }
  CHECK(std::abs(sum / 100'000 - 0.5) < 0.004);
}

TEST_CASE("a normal pair is Box-Muller of two uniform draws") {
  Generator known(0, Purpose::initialisation);
  CHECK(known.normal() == doctest::Approx(-0.09047305844120267).epsilon(1e-14));
  CHECK(known.normal() == doctest::Approx(-1.0051318150657187).epsilon(1e-14));
}

TEST_CASE("normals have mean 0, variance 1, no skew and no lag") {
  Generator generator(5);
  const int count = 100'000;
  double sum = 0, squares = 0, cubes = 0, lagged = 0, previous = 0;
  for (int i = 0; i < count; ++i) {
    const double value = generator.normal();
    sum += value;
    squares += value * value;
    cubes += value * value * value;
    lagged += value * previous;
    previous = value;
  }
  // Four standard errors each: 1, sqrt 2, sqrt 15 and 1 over sqrt(count).
  CHECK(std::abs(sum / count) < 0.0127);
  CHECK(std::abs(squares / count - 1) < 0.0179);
  CHECK(std::abs(cubes / count) < 0.049);
  CHECK(std::abs(lagged / count) < 0.0127);
}

TEST_CASE("below(n) draws every number under n equally often and nothing else") {
  Generator generator(2);
  std::array<int, 6> seen{};
  for (int i = 0; i < 60'000; ++i) {
    const Index value = generator.below(6);
    REQUIRE(value >= 0);
    REQUIRE(value < 6);
    ++seen[static_cast<std::size_t>(value)];
  }
  for (const int count : seen) CHECK(std::abs(count - 10'000) < 400);
}

TEST_CASE("below(n) has no bias where n does not divide 2^32") {
  // A plain remainder would put half of the draws, not a third, under 2^30.
  Generator generator(2);
  const Index third = Index{1} << 30;
  int low = 0;
  for (int i = 0; i < 30'000; ++i)
    if (generator.below(3 * third) < third) ++low;
  CHECK(std::abs(low - 10'000) < 350);
}

TEST_CASE("below(n) takes 1 to 2^32 and refuses the rest") {
  Generator generator(2);
  for (int i = 0; i < 20; ++i) CHECK(generator.below(1) == 0);
  Index largest = 0;
  for (int i = 0; i < 20; ++i) largest = std::max(largest, generator.below(Index{1} << 32));
  CHECK(largest > Index{1} << 31);
  for (const Index bound : {Index{0}, Index{-1}, (Index{1} << 32) + 1})
    CHECK_THROWS_AS(generator.below(bound), Error);
}

}  // namespace tapehead
