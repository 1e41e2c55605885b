#include "tapehead/study/formation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr double kOnset = 0.1;
constexpr double kHalf = 0.5;
constexpr double kDone = 0.9;
/// Of a hump's height: what has to be gone for it to be one, and to be over.
constexpr double kComesDown = 0.5;
constexpr double kOver = 0.9;
/// Slopes that differ by less are equal but for rounding.
constexpr double kEqualSlopes = 1e-9;

/// One loss, at the evaluations that have it, over ln(tokens) or over steps.
struct Curve {
  std::vector<Index> steps;
  std::vector<double> x;
  std::vector<double> y;

  std::size_t size() const { return x.size(); }
};

void require_growing(const std::vector<double>& values, const char* name) {
  for (std::size_t i = 0; i < values.size(); ++i)
    require(std::isfinite(values[i]) && values[i] >= 0 && (i == 0 || values[i - 1] < values[i]),
            "[formation] expected {} that grow from evaluation to evaluation, got {} in row {}", name,
            values[i], i + 1);
}

void check(const LearningCurves& curves) {
  const std::size_t rows = curves.steps.size();
  for (const auto* column : {&curves.tokens, &curves.loss, &curves.loss_noise, &curves.accuracy_induction})
    require(column->size() == rows, "[formation] expected {} entries, one a step, got {}", rows,
            column->size());
  require_growing(curves.steps, "steps");
  require_growing(curves.tokens, "tokens");
}

Curve over_tokens(const LearningCurves& curves, const std::vector<double>& loss) {
  Curve curve;
  for (std::size_t i = 0; i < loss.size(); ++i) {
    if (curves.tokens[i] <= 0 || !std::isfinite(loss[i])) continue;
    curve.steps.push_back(static_cast<Index>(curves.steps[i]));
    curve.x.push_back(std::log(curves.tokens[i]));
    curve.y.push_back(loss[i]);
  }
  return curve;
}

Curve over_steps(const LearningCurves& curves, const std::vector<double>& loss) {
  Curve curve;
  for (std::size_t i = 0; i < loss.size(); ++i) {
    if (!std::isfinite(loss[i])) continue;
    curve.steps.push_back(static_cast<Index>(curves.steps[i]));
    curve.x.push_back(curves.steps[i]);
    curve.y.push_back(loss[i]);
  }
  return curve;
}

/// From evaluation i to the next.
double slope(const Curve& curve, std::size_t i) {
  return (curve.y[i + 1] - curve.y[i]) / (curve.x[i + 1] - curve.x[i]);
}

/// The integral of the standard normal distribution function, from far left up to u.
double ramp(double u) {
  return u * 0.5 * std::erfc(-u * std::numbers::sqrt2 / 2) +
         std::exp(-u * u / 2) * std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2;
}

/// The straight lines between points are the first one, and from every further point on a ramp of its change
/// of slope. The mean under a Gaussian leaves a line as it is, and rounds off the foot of a ramp.
Curve smoothed(const Curve& curve) {
  if (curve.size() < 2) return curve;
  Curve result = curve;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    result.y[i] = curve.y[0] + slope(curve, 0) * (curve.x[i] - curve.x[0]);
    for (std::size_t k = 1; k + 1 < curve.size(); ++k)
      result.y[i] +=
          (slope(curve, k) - slope(curve, k - 1)) * kSmoothing * ramp((curve.x[i] - curve.x[k]) / kSmoothing);
  }
  return result;
}

/// How far the curve at i is above the straight line between two of its points.
double above_line(const Curve& curve, std::size_t from, std::size_t to, std::size_t i) {
  const double rise = (curve.y[to] - curve.y[from]) / (curve.x[to] - curve.x[from]);
  return curve.y[i] - curve.y[from] - rise * (curve.x[i] - curve.x[from]);
}

Curve medians_of_three(const Curve& curve) {
  Curve result = curve;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
    const auto [low, high] = std::minmax(curve.y[i - 1], curve.y[i + 1]);
    result.y[i] = std::clamp(curve.y[i], low, high);
  }
  return result;
}

/// The bump between two evaluations, whether or not it is one.
Bump bump_between(const Curve& curve, std::size_t start, std::size_t end) {
  Bump bump{curve.steps[start], curve.steps[start], {}, 0};
  if (end + 1 < curve.size()) bump.end = curve.steps[end];
  for (std::size_t i = start + 1; i < end; ++i) {
    const double height = above_line(curve, start, end, i);
    if (height <= bump.height) continue;
    bump.height = height;
    bump.top = curve.steps[i];
  }
  return bump;
}

std::optional<Bump> largest_bump(const Curve& curve) {
  std::optional<Bump> largest;
  for (std::size_t start = 0; start + 1 < curve.size();) {
    std::size_t end = start + 1;
    while (end + 1 < curve.size() && slope(curve, end) < slope(curve, end - 1) - kEqualSlopes) ++end;
    const Bump bump = bump_between(curve, start, end);
    if (bump.height >= kLeastBump && (!largest || bump.height > largest->height)) largest = bump;
    start = end;
  }
  return largest;
}

/// Where the curve rises most above the lowest point before: that point, and the top.
std::pair<std::size_t, std::size_t> largest_rise(const Curve& curve) {
  std::size_t low = 0;
  std::pair<std::size_t, std::size_t> best{0, 0};
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve.y[i] < curve.y[low]) low = i;
    if (curve.y[i] - curve.y[low] > curve.y[best.second] - curve.y[best.first]) best = {low, i};
  }
  return best;
}

std::optional<NoiseHump> noise_hump(const Curve& curve) {
  if (curve.size() < 3) return {};
  const auto [low, top] = largest_rise(curve);
  if (low == top) return {};
  std::size_t start = low;
  for (std::size_t i = low; i < top; ++i)
    if (above_line(curve, low, top, i) < above_line(curve, low, top, start)) start = i;
  NoiseHump hump{curve.steps[start], curve.steps[top], {}, curve.y[start], curve.y[top] - curve.y[start]};
  const double lowest_after =
      *std::min_element(curve.y.begin() + static_cast<std::ptrdiff_t>(top), curve.y.end());
  if (hump.height < kLeastBump || curve.y[top] - lowest_after < kComesDown * hump.height) return {};
  for (std::size_t i = top; i < curve.size() && !hump.end; ++i)
    if (curve.y[top] - curve.y[i] >= kOver * hump.height) hump.end = curve.steps[i];
  return hump;
}

std::optional<Index> first_above(const LearningCurves& curves, double accuracy) {
  for (std::size_t i = 0; i < curves.steps.size(); ++i)
    if (curves.accuracy_induction[i] > accuracy) return static_cast<Index>(curves.steps[i]);
  return {};
}

std::optional<SteepestRise> steepest_rise(const LearningCurves& curves) {
  std::optional<SteepestRise> steepest;
  for (std::size_t i = 1; i + 1 < curves.steps.size(); ++i) {
    const double rise = curves.accuracy_induction[i + 1] - curves.accuracy_induction[i - 1];
    const double per_step = rise / (curves.steps[i + 1] - curves.steps[i - 1]);
    if (per_step > (steepest ? steepest->per_step : 0))
      steepest = SteepestRise{per_step, static_cast<Index>(curves.steps[i])};
  }
  return steepest;
}

std::string reached(const char* what, const std::optional<Index>& step, Index last_step) {
  return step ? fmt::format("{} at step {}", what, *step) : fmt::format("{} not by step {}", what, last_step);
}

}  // namespace

std::optional<Index> Formation::width() const {
  if (!onset || !done) return {};
  return *done - *onset;
}

Formation formation_of(const LearningCurves& curves) {
  check(curves);
  Formation formation;
  if (curves.steps.empty()) return formation;
  formation.last_step = static_cast<Index>(curves.steps.back());
  formation.onset = first_above(curves, kOnset);
  formation.half = first_above(curves, kHalf);
  formation.done = first_above(curves, kDone);
  formation.steepest = steepest_rise(curves);
  formation.bump = largest_bump(smoothed(over_tokens(curves, curves.loss)));
  formation.hump = noise_hump(medians_of_three(over_steps(curves, curves.loss_noise)));
  return formation;
}

Formation formation_of(const CsvTable& metrics) {
  const auto column = [&](const char* name) {
    const auto rows = static_cast<std::size_t>(metrics.rows());
    return metrics.has(name) ? metrics.numbers(name)
                             : std::vector<double>(rows, std::numeric_limits<double>::quiet_NaN());
  };
  return formation_of(LearningCurves{metrics.numbers("step"), metrics.numbers("tokens"), column("loss"),
                                     column("loss_noise"), column("accuracy_induction")});
}

std::vector<std::string> describe(const Formation& formation) {
  std::vector<std::string> lines;
  const Index last = formation.last_step;
  lines.push_back(
      fmt::format("accuracy on induction positions: {}, {}, {}", reached("above 10 %", formation.onset, last),
                  reached("above 50 %", formation.half, last), reached("above 90 %", formation.done, last)));
  if (const auto& steepest = formation.steepest)
    lines.push_back(fmt::format("steepest rise: {:.2f} points a step at step {}", 100 * steepest->per_step,
                                steepest->step));
  if (const auto& bump = formation.bump)
    lines.push_back(
        fmt::format("bump of the loss on all positions: starts at step {}, top at step {} ({:.2f} nats), {}",
                    bump->start, bump->top, bump->height, reached("ends", bump->end, last)));
  if (const auto& hump = formation.hump)
    lines.push_back(
        fmt::format("hump of the loss on noise positions: leaves {:.2f} nats at step {}, top at step {} "
                    "(+{:.2f} nats), {}",
                    hump->level, hump->start, hump->top, hump->height, reached("over", hump->end, last)));
  return lines;
}

}  // namespace tapehead
