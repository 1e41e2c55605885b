#include "tapehead/train/checkpoint_schedule.h"

#include <vector>

#include "support/testing.h"

using namespace tapehead;

namespace {

std::vector<Index> steps_of(const TrainConfig& config) {
  std::vector<Index> steps;
  for (Index step = 0; step <= config.steps; ++step)
    if (is_checkpoint_step(config, step)) steps.push_back(step);
  return steps;
}

using Steps = std::vector<Index>;

}  // namespace

TEST_CASE("checkpoints come at every interval, and always at the first and the last step") {
  CHECK(steps_of({.steps = 23, .checkpoint_interval = 10}) == Steps{0, 10, 20, 23});
  CHECK(steps_of({.steps = 23, .checkpoint_interval = 0}) == Steps{0, 23});
}

TEST_CASE("checkpoints for each doubling lie evenly on a logarithmic scale, rounded to whole steps") {
  CHECK(steps_of({.steps = 40, .checkpoint_interval = 0, .checkpoints_per_doubling = 1}) ==
        Steps{0, 1, 2, 4, 8, 16, 32, 40});
  // 2^(k/2): 1, 1.41, 2, 2.83, 4, 5.66, 8, 11.3, 16, 22.6, 32
  CHECK(steps_of({.steps = 32, .checkpoint_interval = 0, .checkpoints_per_doubling = 2}) ==
        Steps{0, 1, 2, 3, 4, 6, 8, 11, 16, 23, 32});
  Steps all;
  for (Index step = 0; step <= 30; ++step) all.push_back(step);
  CHECK(steps_of({.steps = 30, .checkpoint_interval = 0, .checkpoints_per_doubling = 1000}) == all);
}

TEST_CASE("checkpoints of a list come beside the others, in whatever order the list is") {
  CHECK(steps_of({.steps = 20, .checkpoint_interval = 15, .checkpoint_steps = {7, 3, 7, 15}}) ==
        Steps{0, 3, 7, 15, 20});
}
