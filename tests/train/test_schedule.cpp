#include "tapehead/train/schedule.h"

#include <cmath>

#include "support/testing.h"

using namespace tapehead;

namespace {

TrainConfig recipe(const char* schedule, Index warmup, Index steps) {
  TrainConfig config;
  config.learning_rate = 0.5;
  config.schedule = schedule;
  config.warmup = warmup;
  config.steps = steps;
  return config;
}

doctest::Approx about(double value) { return doctest::Approx(value).epsilon(1e-12); }

}  // namespace

TEST_CASE("warm-up raises the rate in equal parts, from one part at the first update to all at the last") {
  for (const char* schedule : {"constant", "cosine"}) {
    const TrainConfig config = recipe(schedule, 4, 12);
    CHECK(scheduled_rate(config, 0) == 0.125);
    CHECK(scheduled_rate(config, 1) == 0.25);
    CHECK(scheduled_rate(config, 2) == 0.375);
    CHECK(scheduled_rate(config, 3) == 0.5);
    CHECK(scheduled_rate(config, 4) == 0.5);
  }
}

TEST_CASE("without warm-up the first update has the full rate") {
  CHECK(scheduled_rate(recipe("constant", 0, 12), 0) == 0.5);
  CHECK(scheduled_rate(recipe("cosine", 0, 12), 0) == 0.5);
}

TEST_CASE("a constant rate stays") {
  const TrainConfig config = recipe("constant", 2, 12);
  for (const Index step : {2, 3, 11, 12, 1000}) CHECK(scheduled_rate(config, step) == 0.5);
}

TEST_CASE("a cosine rate falls from the end of warm-up to 0 at the end of the run") {
  const TrainConfig config = recipe("cosine", 4, 12);
  CHECK(scheduled_rate(config, 6) == about(0.25 * (1 + std::sqrt(0.5))));
  CHECK(scheduled_rate(config, 8) == about(0.25));
  CHECK(scheduled_rate(config, 10) == about(0.25 * (1 - std::sqrt(0.5))));
  CHECK(scheduled_rate(config, 11) > 0);
  CHECK(std::abs(scheduled_rate(config, 12)) < 1e-15);
  for (Index step = 4; step < 11; ++step)
    CHECK(scheduled_rate(config, step + 1) < scheduled_rate(config, step));
}

TEST_CASE("past the end of the run a cosine rate does not rise again") {
  const TrainConfig config = recipe("cosine", 4, 12);
  for (const Index step : {13, 16, 20, 1000}) CHECK(std::abs(scheduled_rate(config, step)) < 1e-15);
}

TEST_CASE("a run that is all warm-up, or has no steps, has finite rates") {
  CHECK(scheduled_rate(recipe("cosine", 4, 4), 3) == 0.5);
  CHECK(scheduled_rate(recipe("cosine", 4, 4), 4) == 0.5);
  CHECK(scheduled_rate(recipe("cosine", 0, 0), 0) == 0.5);
}
