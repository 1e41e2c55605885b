#include "tapehead/study/twin.h"

#include "support/folder.h"
#include "support/functions.h"
#include "support/training.h"
#include "tapehead/base/require.h"
#include "tapehead/study/scored_run.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

RunDirectory new_run(const Folder& folder, const Config& config = tiny_config()) {
  return RunDirectory::create(folder / "run", config, false);
}

}  // namespace

TEST_CASE("a twin differs in its layers alone, and is the model that training such a config gives") {
  Config config = one_layer_twin(tiny_config());
  CHECK(config.model.layers == 1);
  config.model.layers = tiny_config().model.layers;
  CHECK(config == tiny_config());

  const Folder folder;
  const RunDirectory run = new_run(folder);
  const auto twin = trained_twin(run, 2);
  REQUIRE(twin);
  Trainer trainer(one_layer_twin(tiny_config()), 1);
  while (trainer.step() < tiny_config().train.steps) trainer.advance();
  CHECK(same_bits(twin->model.parameters(), trainer.model().parameters()));
  CHECK(RunDirectory::open(twin_folder(run)).checkpoint_steps().back() == tiny_config().train.steps);
}

TEST_CASE("a finished twin is used, a stopped one gone on with, one of another config refused") {
  const Folder folder;
  const RunDirectory run = new_run(folder);
  Index steps = 0;
  const RunObserver counting{.stepped = [&](const Trainer&, const Trainer::StepReport&) { ++steps; }};
  const auto whole = trained_twin(run, 1);
  REQUIRE(whole);
  REQUIRE(trained_twin(run, 1, counting));
  CHECK(steps == 0);

  const RunDirectory twin = RunDirectory::open(twin_folder(run));
  std::filesystem::remove(twin.latest_checkpoint());
  const auto resumed = trained_twin(run, 1, counting);
  REQUIRE(resumed);
  CHECK(steps == 5);
  CHECK(same_bits(resumed->model.parameters(), whole->model.parameters()));

  Config other = one_layer_twin(tiny_config());
  other.train.data_seed = 7;
  RunDirectory::create(twin_folder(run), other, true);
  CHECK_THROWS_WITH_AS(
      trained_twin(run, 1, counting),
      doctest::Contains(
          "differs in train.data_seed, which is 7 there and 1 here; it is not this run's twin: move it away"),
      UsageError);
}

TEST_CASE("a twin whose training is stopped is not there yet, and the next call goes on with it") {
  const Folder folder;
  const RunDirectory run = new_run(folder);
  CHECK_FALSE(trained_twin(run, 1, {.should_stop = [] { return true; }}));
  Index steps = 0;
  CHECK(trained_twin(run, 1, {.stepped = [&](const Trainer&, const Trainer::StepReport&) { ++steps; }}));
  CHECK(steps == tiny_config().train.steps - 1);
}

TEST_CASE("what has no twin says why") {
  Config config = tiny_config();
  config.model.layers = 1;
  CHECK_THROWS_WITH_AS(one_layer_twin(config), "[twin] the model has 1 layer itself: no twin with fewer",
                       UsageError);
  config = tiny_config();
  config.model.initialisation = Initialisation::imported;
  CHECK_THROWS_WITH_AS(one_layer_twin(config), doctest::Contains("was imported"), UsageError);
}
