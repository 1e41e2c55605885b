#include "tapehead/train/snapshot_ring.h"

#include <limits>
#include <vector>

#include "support/testing.h"

using namespace tapehead;

namespace {

using Steps = std::vector<Index>;

Steps steps_of(const SnapshotRing::Snapshots& window) {
  Steps steps;
  for (const auto& snapshot : window) steps.push_back(snapshot->step);
  return steps;
}

/// A ring, fed with steps 1 to the last; `scores` are of evaluations every 4 steps from step 0. What it hands
/// out, in order.
std::vector<Steps> windows(const TrainConfig& config, const std::vector<double>& scores, Index last) {
  SnapshotRing ring(config);
  std::vector<Steps> found;
  ring.scored(0, scores[0]);
  for (Index step = 1; step <= last; ++step) {
    if (ring.wants(step)) ring.keep({.step = step});
    if (step % 4 == 0 && static_cast<std::size_t>(step / 4) < scores.size())
      ring.scored(static_cast<double>(step), scores[static_cast<std::size_t>(step / 4)]);
    if (const Steps window = steps_of(ring.take_window(step)); !window.empty()) found.push_back(window);
  }
  if (const Steps rest = steps_of(ring.take_window(last, true)); !rest.empty()) found.push_back(rest);
  return found;
}

}  // namespace

TEST_CASE("the window lies around the evaluation between the two over which the score rises most") {
  // Steepest from step 12 to 20, around 16.
  const std::vector<double> scores{0, 0, 0, 0.1, 0.6, 1, 1, 1};
  CHECK(windows({.ring_snapshots = 8}, scores, 28).back() == Steps{13, 14, 15, 16, 17, 18, 19, 20});
  CHECK(windows({.ring_snapshots = 4, .ring_interval = 2}, scores, 28).back() == Steps{14, 16, 18, 20});
}

TEST_CASE("a steeper rise has a window of its own, a rise less steep or a fall none") {
  const TrainConfig config{.ring_snapshots = 8};
  CHECK(windows(config, {0, 0.1, 0.1, 0.1, 0.6, 0.6, 0.1, 0.5}, 28) ==
        std::vector<Steps>{{1, 2, 3, 4, 5, 6, 7, 8}, {9, 10, 11, 12, 13, 14, 15, 16}});
  CHECK(windows(config, {1, 0.9, 0.8, 0.8}, 12).empty());
}

TEST_CASE("a window that the run's end cuts off is handed out as far as it is there") {
  CHECK(windows({.ring_snapshots = 16}, {0, 0, 0.5}, 8) == std::vector<Steps>{{1, 2, 3, 4, 5, 6, 7, 8}});
}

TEST_CASE("a ring that heard of scores before it began has no snapshots of then") {
  SnapshotRing ring({.ring_snapshots = 12});
  for (const double step : {0, 4, 8, 12}) ring.scored(step, step == 12 ? 0.5 : 0);
  // The window is 3 to 14.
  for (Index step = 13; step <= 16; ++step) ring.keep({.step = step});
  CHECK(steps_of(ring.take_window(16)) == Steps{13, 14});
  ring.scored(16, 0.5);
  CHECK(ring.take_window(16, true).empty());
}

TEST_CASE("a score that is not a number counts as no evaluation, and a ring of none wants nothing") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(windows({.ring_snapshots = 4}, {nan, nan, nan, nan}, 16).empty());
  CHECK(windows({.ring_snapshots = 8}, {0, nan, 0.4, 0.4}, 16) ==
        std::vector<Steps>{{5, 6, 7, 8, 9, 10, 11, 12}});
  CHECK(windows({.ring_snapshots = 0}, {0, 1, 1, 1}, 12).empty());
  CHECK_FALSE(SnapshotRing({.ring_snapshots = 0}).wants(4));
  CHECK_FALSE(SnapshotRing({.ring_snapshots = 2, .ring_interval = 3}).wants(4));
}
