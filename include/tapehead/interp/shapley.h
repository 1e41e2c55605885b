/// Games of a few players, and what each player and each pair has to do with their worth.
///
/// A game is a number for every set of players: entry S is the worth of the players whose bits are set in S,
/// so entry 0 is nobody's. Results are exact sums over all sets, and linear in the game.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead {

/// Bit i is player i.
using PlayerSet = std::uint32_t;
using Game = std::vector<double>;

/// The players of a game. Throws Error unless it has a worth for every set of 1 to 20 players.
Index players_of(const Game& game);

/// The mean, over all orders in which the players may come, of what each adds to those before it (Shapley
/// 1953): sum over S without i of |S|! (n - |S| - 1)! / n! (v(S + i) - v(S)). They sum to v(all) - v(nobody).
std::vector<double> shapley_values(const Game& game);

/// The Shapley interaction index of two players (Grabisch and Roubens 1999): sum over S without i and j of
/// |S|! (n - |S| - 2)! / (n - 1)! (v(S + ij) - v(S + i) - v(S + j) + v(S)). For two players this is
/// v(ij) - v(i) - v(j) + v(nobody). Throws Error for players that are not in the game, or the same.
double interaction_index(const Game& game, Index i, Index j);

/// All sets of the smallest size among those of `players` players for which `holds` does, in growing order;
/// none if it holds for no set.
std::vector<PlayerSet> smallest_sets(Index players, const std::function<bool(PlayerSet)>& holds);

}  // namespace tapehead
