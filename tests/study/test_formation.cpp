#include "tapehead/study/formation.h"

#include <cmath>
#include <limits>

#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// `rows` evaluations, 10 steps and 1000 tokens apart, the first at step 0; flat losses and an accuracy of 0.
LearningCurves flat_curves(std::size_t rows) {
  LearningCurves curves;
  for (std::size_t i = 0; i < rows; ++i) {
    curves.steps.push_back(10.0 * static_cast<double>(i));
    curves.tokens.push_back(1000.0 * static_cast<double>(i));
  }
  curves.loss.assign(rows, 4.0);
  curves.loss_noise.assign(rows, 4.0);
  curves.accuracy_induction.assign(rows, 0.0);
  return curves;
}

/// Evaluations at ln(tokens) = 5, 6, 7, ... and steps 1, 2, 3, ..., so far apart that smoothing spares all
/// but the corners.
LearningCurves sparse_curves(const std::vector<double>& loss) {
  LearningCurves curves;
  for (std::size_t i = 0; i < loss.size(); ++i) {
    curves.steps.push_back(static_cast<double>(i + 1));
    curves.tokens.push_back(std::exp(static_cast<double>(i + 5)));
  }
  curves.loss = loss;
  curves.loss_noise.assign(loss.size(), 4.0);
  curves.accuracy_induction.assign(loss.size(), 0.0);
  return curves;
}

LearningCurves with_accuracy(const std::vector<double>& accuracy) {
  LearningCurves curves = flat_curves(accuracy.size());
  curves.accuracy_induction = accuracy;
  return curves;
}

LearningCurves with_noise_loss(const std::vector<double>& loss) {
  LearningCurves curves = flat_curves(loss.size());
  curves.loss_noise = loss;
  return curves;
}

}  // namespace

TEST_CASE("onset, half and done are the first evaluations above 10, 50 and 90 percent") {
  // Exactly on a threshold is not above it, and a later fall does not undo what was reached.
  const Formation formation =
      formation_of(with_accuracy({0.02, 0.1, 0.11, 0.05, 0.5, 0.7, 0.4, 0.9, 0.95, 0.97}));
  CHECK(formation.onset == 20);
  CHECK(formation.half == 50);
  CHECK(formation.done == 80);
  CHECK(formation.width() == 60);
  CHECK(formation.last_step == 90);
}

TEST_CASE("the steepest rise is taken over two intervals, where the accuracy gains most a step") {
  const Formation formation = formation_of(with_accuracy({0.1, 0.1, 0.2, 0.5, 0.6, 0.65}));
  REQUIRE(formation.steepest);
  CHECK(formation.steepest->per_step ==
        doctest::Approx(0.4 / 20).epsilon(1e-12));  // 0.1 to 0.5, and 0.2 to 0.6
  CHECK(formation.steepest->step == 20);

  LearningCurves uneven = with_accuracy({0.1, 0.2, 0.3, 0.5});
  uneven.steps = {0, 10, 20, 100};
  CHECK(formation_of(uneven).steepest->step == 10);
}

TEST_CASE("a run that never forms is censored at its last step") {
  const Formation formation = formation_of(with_accuracy({0.02, 0.05, 0.2, 0.3, 0.35}));
  CHECK(formation.onset == 20);
  CHECK_FALSE(formation.half);
  CHECK_FALSE(formation.done);
  CHECK_FALSE(formation.width());
  CHECK(formation.last_step == 40);
  CHECK(
      describe(formation).front() ==
      "accuracy on induction positions: above 10 % at step 20, above 50 % not by step 40, above 90 % not by "
      "step 40");
}

TEST_CASE("flat curves, few evaluations and none have no bump and no rise") {
  for (const std::size_t rows : {0U, 1U, 2U, 3U, 50U}) {
    CAPTURE(rows);
    const Formation formation = formation_of(flat_curves(rows));
    CHECK_FALSE(formation.onset);
    CHECK_FALSE(formation.steepest);
    CHECK_FALSE(formation.bump);
    CHECK_FALSE(formation.hump);
    CHECK(formation.last_step == (rows == 0 ? 0 : 10 * static_cast<Index>(rows - 1)));
  }
}

TEST_CASE("a loss that bends only upward against the logarithm of tokens has no bump") {
  LearningCurves curves = flat_curves(200);
  for (std::size_t i = 0; i < curves.loss.size(); ++i)
    curves.loss[i] = 2 + 3 / (1 + curves.tokens[i] / 5000);  // a sigmoid in ln(tokens), convex past 5000
  curves.loss.erase(curves.loss.begin(), curves.loss.begin() + 5);
  curves.loss_noise.resize(195);
  curves.accuracy_induction.resize(195);
  curves.steps.erase(curves.steps.begin(), curves.steps.begin() + 5);
  curves.tokens.erase(curves.tokens.begin(), curves.tokens.begin() + 5);
  CHECK_FALSE(formation_of(curves).bump);
}

TEST_CASE("the bump starts where the slope begins to fall and ends at the steepest descent") {
  // Slopes -0.3, -0.1, -0.5, -1.5, -0.4: they fall from the line that begins at step 2 to the one that ends
  // at step 5.
  const Formation formation = formation_of(sparse_curves({4.2, 3.9, 3.8, 3.3, 1.8, 1.4}));
  REQUIRE(formation.bump);
  CHECK(formation.bump->start == 2);
  CHECK(formation.bump->top == 4);
  CHECK(formation.bump->end == 5);
  // A corner is rounded by its change of slope times the deviation over sqrt(2 pi). At steps 2, 4 and 5 the
  // slope changes by 0.2, -1 and 1.1, and from 2 to 5 the line is two thirds of the way at step 4.
  const double rounding = 0.1 / std::sqrt(2 * std::acos(-1.0));
  const double loss_at_2 = 3.9 + 0.2 * rounding;
  const double loss_at_4 = 3.3 - 1.0 * rounding;
  const double loss_at_5 = 1.8 + 1.1 * rounding;
  CHECK(formation.bump->height ==
        doctest::Approx(loss_at_4 - loss_at_2 / 3 - loss_at_5 * 2 / 3).epsilon(1e-9));
}

TEST_CASE("a bump in a sigmoid of ln(tokens) ends at its middle") {
  LearningCurves curves = flat_curves(400);
  const auto middle = std::log(100'000.0);  // step 1000
  for (std::size_t i = 1; i < curves.loss.size(); ++i)
    curves.loss[i] = 4 - 2 / (1 + std::exp(-(std::log(curves.tokens[i]) - middle) / 0.2));
  const Formation formation = formation_of(curves);
  REQUIRE(formation.bump);
  CHECK(*formation.bump->end >= 990);
  CHECK(*formation.bump->end <= 1010);
  CHECK(formation.bump->start < formation.bump->top);
  CHECK(formation.bump->top < 1000);
}

TEST_CASE("a bump is found through noise") {
  LearningCurves curves = flat_curves(400);
  const auto middle = std::log(100'000.0);
  const Tensor noise = testing::random_tensor({400}, 7, 0.02);
  for (std::size_t i = 1; i < curves.loss.size(); ++i)
    curves.loss[i] = 4 - 2 / (1 + std::exp(-(std::log(curves.tokens[i]) - middle) / 0.2)) +
                     static_cast<double>(noise.data()[i]);
  const Formation formation = formation_of(curves);
  REQUIRE(formation.bump);
  CHECK(*formation.bump->end == doctest::Approx(1000).epsilon(0.06));
  CHECK(formation.bump->height > 0.3);
}

TEST_CASE("the end of a bump is open while the loss still bends downward") {
  const Formation formation = formation_of(sparse_curves({4.2, 3.9, 3.8, 3.3, 1.8}));
  REQUIRE(formation.bump);
  CHECK(formation.bump->start == 2);
  CHECK(formation.bump->top == 4);
  CHECK_FALSE(formation.bump->end);
}

TEST_CASE("the hump on noise positions has a level before, a start, a top and an end") {
  // A slow creep from 4.0 to 4.4, the hump to 5.4, and the way down. The values around the top repeat, so the
  // median of three leaves the curve as it is.
  const Formation formation = formation_of(
      with_noise_loss({4.2, 4.0, 4.1, 4.2, 4.3, 4.4, 4.9, 5.4, 5.4, 5.0, 4.7, 4.52, 4.48, 4.45, 4.42}));
  REQUIRE(formation.hump);
  CHECK(formation.hump->start == 50);
  CHECK(formation.hump->level == doctest::Approx(4.4).epsilon(1e-12));
  CHECK(formation.hump->top == 70);
  CHECK(formation.hump->height == doctest::Approx(1.0).epsilon(1e-12));
  CHECK(formation.hump->end == 120);  // the first at or below 4.5
}

TEST_CASE("one evaluation out of line makes no hump") {
  CHECK_FALSE(formation_of(with_noise_loss({4, 4, 4, 9, 4, 4, 4})).hump);
}

TEST_CASE(
    "a rise that keeps more than half of its height is no hump, and one that keeps some has an open end") {
  CHECK_FALSE(formation_of(with_noise_loss({4, 4, 4, 4.5, 5, 5, 4.7, 4.6})).hump);
  const Formation formation = formation_of(with_noise_loss({4, 4, 4, 4.5, 5, 5, 4.7, 4.5}));
  REQUIRE(formation.hump);
  CHECK(formation.hump->start == 20);
  CHECK_FALSE(formation.hump->end);
}

TEST_CASE("missing values and missing columns leave the rest as it is") {
  LearningCurves curves = with_accuracy({0.02, kMissing, 0.2, 0.6, kMissing, 0.95});
  curves.loss_noise.assign(6, kMissing);
  CHECK(formation_of(curves).done == 50);
  CHECK_FALSE(formation_of(curves).hump);

  CsvTable table({"step", "tokens", "accuracy_induction"});
  table.add({"0", "0", "0.01"});
  table.add({"20", "30720", "0.92"});
  CHECK(formation_of(table).done == 20);
  CHECK_FALSE(formation_of(table).bump);
}

TEST_CASE("curves that do not fit together or run backwards are refused") {
  LearningCurves shorter = flat_curves(4);
  shorter.loss.pop_back();
  CHECK_THROWS_WITH_AS(formation_of(shorter), "[formation] expected 4 entries, one a step, got 3", Error);

  LearningCurves backwards = flat_curves(4);
  backwards.steps[2] = 5;
  CHECK_THROWS_WITH_AS(formation_of(backwards),
                       "[formation] expected steps that grow from evaluation to evaluation, got 5 in row 3",
                       Error);
}
