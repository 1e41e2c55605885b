#include "tapehead/study/formation_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// One head's score at every evaluation.
struct HeadCurve {
  std::string head;
  std::vector<double> steps;
  std::vector<double> scores;
};

std::vector<HeadCurve> curves_of(const CsvTable& heads, std::string_view score) {
  std::map<std::pair<double, double>, HeadCurve> by_head;
  for (Index row = 0; row < heads.rows(); ++row) {
    HeadCurve& curve = by_head[{heads.number(row, "layer"), heads.number(row, "head")}];
    curve.head = heads.cell(row, "layer") + "." + heads.cell(row, "head");
    curve.steps.push_back(heads.number(row, "step"));
    curve.scores.push_back(heads.number(row, score));
  }
  std::vector<HeadCurve> curves;
  for (auto& [place, curve] : by_head) curves.push_back(std::move(curve));
  return curves;
}

/// The curve that ends highest, or none where no curve has a last value.
const HeadCurve* best_of(const std::vector<HeadCurve>& curves) {
  const HeadCurve* best = nullptr;
  for (const HeadCurve& curve : curves) {
    if (!std::isfinite(curve.scores.back())) continue;
    if (best == nullptr || curve.scores.back() > best->scores.back()) best = &curve;
  }
  return best;
}

/// Fills in when it began and moved.
void follow(Move& move, const std::vector<double>& steps, std::span<const double> values, double least) {
  const auto step_at = [&](double share) -> std::optional<Index> {
    const std::optional<std::size_t> place = covered_at(values, move.from, move.to, share, least);
    if (!place) return {};
    return static_cast<Index>(steps[*place]);
  };
  move.began = step_at(kBegun);
  move.moved = step_at(kMoved);
}

/// The place of an evaluation that is known to be there.
std::size_t place_of(const std::vector<double>& steps, Index step) {
  const auto found = std::find(steps.begin(), steps.end(), static_cast<double>(step));
  ensure(found != steps.end(), "no evaluation of step {}", step);
  return static_cast<std::size_t>(found - steps.begin());
}

Move plateau_move(const std::vector<double>& steps, const std::vector<double>& losses, std::string name,
                  const std::optional<Index>& onset) {
  Move move{std::move(name), "", losses.back(), losses.back()};
  if (!onset) return move;
  const std::size_t place = place_of(steps, *onset);
  move.from = losses[place == 0 ? 0 : place - 1];
  follow(move, steps, losses, kLeastLossMove);
  return move;
}

Move noise_move(const std::vector<double>& steps, const std::vector<double>& losses,
                const std::optional<NoiseHump>& hump) {
  Move move{"loss_noise", "", losses.back(), losses.back()};
  if (!hump) return move;
  move.from = hump->level;
  move.to = hump->level + hump->height;
  const std::size_t top = place_of(steps, hump->top);
  // The top is the median of three evaluations, the last of which is the one after it.
  std::vector<double> until_top(losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(top) + 1);
  until_top.back() = move.to;
  follow(move, steps, until_top, kLeastLossMove);
  return move;
}

}  // namespace

std::optional<std::size_t> covered_at(std::span<const double> values, double from, double to, double share,
                                      double least) {
  if (!(std::abs(to - from) >= least)) return {};
  std::optional<std::size_t> covered;
  for (std::size_t i = values.size(); i-- > 0;) {
    if (!std::isfinite(values[i])) continue;
    // Both factors have the sign of the way, up or down.
    if ((values[i] - from) * (to - from) < share * (to - from) * (to - from)) break;
    covered = i;
  }
  return covered;
}

std::vector<Move> score_moves(const CsvTable& heads) {
  std::vector<Move> moves;
  for (const std::string_view score : kFollowedScores) {
    if (!heads.has(score)) continue;
    const std::vector<HeadCurve> curves = curves_of(heads, score);
    const HeadCurve* best = best_of(curves);
    if (best == nullptr) continue;
    const auto top = std::ranges::max_element(best->scores, {}, [](double value) {
      return std::isfinite(value) ? value : -std::numeric_limits<double>::infinity();
    });
    Move move{std::string(score), best->head, best->scores.front(), *top};
    follow(move, best->steps, {best->scores.begin(), top + 1}, kLeastScoreMove);
    moves.push_back(std::move(move));
  }
  return moves;
}

std::vector<Move> loss_moves(const CsvTable& metrics, const Formation& formation) {
  std::vector<Move> moves;
  if (metrics.rows() == 0) return moves;
  const std::vector<double> steps = metrics.numbers("step");
  for (const char* name : {"loss_induction", "loss", "loss_noise"}) {
    if (!metrics.has(name)) continue;
    const std::vector<double> losses = metrics.numbers(name);
    if (!std::isfinite(losses.back())) continue;
    moves.push_back(name == std::string_view("loss_noise")
                        ? noise_move(steps, losses, formation.hump)
                        : plateau_move(steps, losses, name, formation.onset));
  }
  return moves;
}

std::vector<Move> in_order(std::vector<Move> moves) {
  std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
    constexpr Index never = std::numeric_limits<Index>::max();
    return a.moved.value_or(never) < b.moved.value_or(never);
  });
  return moves;
}

}  // namespace tapehead
