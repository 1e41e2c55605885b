#include "tapehead/interp/shapley.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "support/testing.h"
#include "tapehead/base/random.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// The game of this worth.
template <class Worth>
Game game_of(Index players, const Worth& worth) {
  Game game;
  for (PlayerSet set = 0; set < PlayerSet{1} << players; ++set) game.push_back(worth(set));
  return game;
}

Game random_game(Index players, std::uint64_t seed) {
  Generator generator(seed);
  return game_of(players, [&](PlayerSet) { return generator.normal(); });
}

void check_values(const Game& game, const std::vector<double>& expected) {
  const std::vector<double> values = shapley_values(game);
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == doctest::Approx(expected[i]).epsilon(1e-14));
}

/// By definition: the mean over all orders of what a player adds to those before it.
std::vector<double> over_all_orders(const Game& game, Index players) {
  std::vector<Index> order(static_cast<std::size_t>(players));
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> sums(order.size(), 0);
  double orders = 0;
  do {
    PlayerSet before = 0;
    for (const Index player : order) {
      const PlayerSet with = before | PlayerSet{1} << player;
      sums[static_cast<std::size_t>(player)] += game[with] - game[before];
      before = with;
    }
    orders += 1;
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& sum : sums) sum /= orders;
  return sums;
}

}  // namespace

TEST_CASE("in a game where everybody adds a fixed worth, that is the Shapley value, and no pair interacts") {
  const std::vector<double> worth{1, 2.5, -4};
  const Game game = game_of(3, [&](PlayerSet set) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum += (set >> i & 1) != 0 ? worth[i] : 0;
    return sum;
  });
  check_values(game, worth);
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 1}, {0, 2}, {1, 2}})
    CHECK(interaction_index(game, i, j) == 0);
}

TEST_CASE(
    "two of whom both are needed, or either is enough, share evenly and interact by plus or minus one") {
  const Game both = {0, 0, 0, 1};
  check_values(both, {0.5, 0.5});
  CHECK(interaction_index(both, 0, 1) == 1);
  const Game either = {0, 1, 1, 1};
  check_values(either, {0.5, 0.5});
  CHECK(interaction_index(either, 0, 1) == -1);
  const Game general = {0.5, 2, 3, 7};
  check_values(general, {2.75, 3.75});
  CHECK(interaction_index(general, 0, 1) == 7 - 2 - 3 + 0.5);
}

TEST_CASE("games of the literature have their known values") {
  // One left glove and two right ones: a pair is worth 1.
  check_values({0, 0, 0, 1, 0, 1, 0, 1}, {2.0 / 3, 1.0 / 6, 1.0 / 6});
  // A runway for planes that need 1, 2 and 3 of it.
  check_values(game_of(3, [](PlayerSet set) { return static_cast<double>(std::bit_width(set)); }),
               {1.0 / 3, 5.0 / 6, 11.0 / 6});
  // All of three are needed: pairs interact by 1/(3 - 2 + 1).
  const Game unanimous = {0, 0, 0, 0, 0, 0, 0, 1};
  check_values(unanimous, {1.0 / 3, 1.0 / 3, 1.0 / 3});
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 1}, {2, 0}, {1, 2}})
    CHECK(interaction_index(unanimous, i, j) == doctest::Approx(0.5).epsilon(1e-14));
}

TEST_CASE("a lone player has all there is, and one who changes nothing has nothing") {
  check_values({1, 4}, {3});
  const Game game =
      game_of(4, [](PlayerSet set) { return static_cast<double>(std::popcount(set & 0b1011U) * 2); });
  check_values(game, {2, 2, 0, 2});
  CHECK(interaction_index(game, 2, 3) == 0);
}

TEST_CASE("Shapley values are the means over all orders, and sum to the worth of all less that of nobody") {
  for (Index players = 1; players <= 6; ++players) {
    const Game game = random_game(players, static_cast<std::uint64_t>(players));
    check_values(game, over_all_orders(game, players));
    const std::vector<double> values = shapley_values(game);
    CHECK(std::accumulate(values.begin(), values.end(), 0.0) ==
          doctest::Approx(game.back() - game.front()).epsilon(1e-13));
  }
}

TEST_CASE("an interaction is what a player's value gains by the other's being there for sure") {
  const Game game = random_game(5, 9);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j) {
      if (i == j) continue;
      // The game of all but j, once with j always there and once never.
      Game with;
      Game without;
      for (PlayerSet set = 0; set < game.size(); ++set)
        if ((set >> j & 1) == 0) {
          without.push_back(game[set]);
          with.push_back(game[set | PlayerSet{1} << j]);
        }
      const auto place = static_cast<std::size_t>(i < j ? i : i - 1);
      CHECK(interaction_index(game, i, j) ==
            doctest::Approx(shapley_values(with)[place] - shapley_values(without)[place]).epsilon(1e-12));
    }
}

TEST_CASE("the smallest sets are all of the smallest size, in growing order") {
  using Sets = std::vector<PlayerSet>;
  CHECK(smallest_sets(3, [](PlayerSet set) { return std::popcount(set) >= 2; }) == Sets{0b011, 0b101, 0b110});
  CHECK(smallest_sets(3, [](PlayerSet set) { return set == 0b111 || set == 0b100; }) == Sets{0b100});
  CHECK(smallest_sets(3, [](PlayerSet) { return true; }) == Sets{0});
  CHECK(smallest_sets(3, [](PlayerSet) { return false; }).empty());
  CHECK(smallest_sets(2, [](PlayerSet set) { return set == 0b11; }) == Sets{0b11});
}

TEST_CASE("what is no game, or no pair of its players, is refused") {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{6}}) {
    CAPTURE(count);
    CHECK_THROWS_WITH_AS(shapley_values(Game(count)),
                         doctest::Contains("[shapley] expected a worth for every set"), Error);
  }
  const Game game(8, 0.0);
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {0, 3}, {-1, 1}, {1, -1}, {3, 0}})
    CHECK_THROWS_WITH_AS(interaction_index(game, i, j),
                         doctest::Contains("[shapley] expected two of 3 players"), Error);
  for (const Index players : {0, 21})
    CHECK_THROWS_AS(smallest_sets(players, [](PlayerSet) { return true; }), Error);
}
