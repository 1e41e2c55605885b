#include "tapehead/interp/shapley.h"

#include <bit>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr Index kMostPlayers = 20;

PlayerSet bit(Index player) { return PlayerSet{1} << player; }

double factorial(Index n) {
  double product = 1;
  for (Index i = 2; i <= n; ++i) product *= static_cast<double>(i);
  return product;
}

/// For every size s of a set, s! (n - s - chosen)! / (n - chosen + 1)!: how likely these s are just those
/// that came before the `chosen` ones, who come together.
std::vector<double> weights(Index n, Index chosen) {
  std::vector<double> result;
  for (Index size = 0; size <= n - chosen; ++size)
    result.push_back(factorial(size) * factorial(n - size - chosen) / factorial(n - chosen + 1));
  return result;
}

std::size_t size_of(PlayerSet set) { return static_cast<std::size_t>(std::popcount(set)); }

}  // namespace

Index players_of(const Game& game) {
  const auto sets = game.size();
  require(sets >= 2 && std::has_single_bit(sets) && std::countr_zero(sets) <= kMostPlayers,
          "[shapley] expected a worth for every set of 1 to {} players, got {} numbers", kMostPlayers, sets);
  return std::countr_zero(sets);
}

std::vector<double> shapley_values(const Game& game) {
  const Index n = players_of(game);
  const std::vector<double> weight = weights(n, 1);
  std::vector<double> values(static_cast<std::size_t>(n), 0);
  for (Index i = 0; i < n; ++i)
    for (PlayerSet set = 0; set < game.size(); ++set)
      if ((set & bit(i)) == 0)
        values[static_cast<std::size_t>(i)] += weight[size_of(set)] * (game[set | bit(i)] - game[set]);
  return values;
}

double interaction_index(const Game& game, Index i, Index j) {
  const Index n = players_of(game);
  require(i >= 0 && j >= 0 && i < n && j < n && i != j, "[shapley] expected two of {} players, got {} and {}",
          n, i, j);
  const std::vector<double> weight = weights(n, 2);
  double index = 0;
  for (PlayerSet set = 0; set < game.size(); ++set)
    if ((set & (bit(i) | bit(j))) == 0)
      index += weight[size_of(set)] *
               (game[set | bit(i) | bit(j)] - game[set | bit(i)] - game[set | bit(j)] + game[set]);
  return index;
}

std::vector<PlayerSet> smallest_sets(Index players, const std::function<bool(PlayerSet)>& holds) {
  require(players >= 1 && players <= kMostPlayers, "[shapley] expected 1 to {} players, got {}", kMostPlayers,
          players);
  std::vector<PlayerSet> smallest;
  for (PlayerSet set = 0; set < bit(players); ++set) {
    if (!smallest.empty() && size_of(set) > size_of(smallest.front())) continue;
    if (!holds(set)) continue;
    if (!smallest.empty() && size_of(set) < size_of(smallest.front())) smallest.clear();
    smallest.push_back(set);
  }
  return smallest;
}

}  // namespace tapehead
