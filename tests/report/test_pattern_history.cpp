#include "tapehead/report/pattern_history.h"

#include <fstream>

#include "support/finished_run.h"
#include "support/folder.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/train/run_checkpoint.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// A run with checkpoints at steps 0, 2, ..., 10.
RunDirectory finished(const Folder& folder) {
  Config config = tiny_config();
  config.train.checkpoint_interval = 2;
  return finished_run(folder, config);
}

PatternHistory history_of(const RunDirectory& run, const PatternHistoryOptions& options) {
  const std::unique_ptr<Task> task = make_task(run.config().task, run.config().model.vocabulary);
  return pattern_history(run, *task, options);
}

using Steps = std::vector<Index>;

}  // namespace

TEST_CASE("every checkpoint gives the weights of its own model, row by row up to the diagonal") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  const PatternHistory history = history_of(run, {.sequences = 2, .positions = 5});
  CHECK(history.of_positions == run.config().task.length);
  CHECK(history.steps == Steps{0, 2, 4, 6, 8, 10});
  CHECK(history.checkpoints == 6);
  CHECK(history.faults.empty());
  CHECK(history.sequences.size() == 2);
  CHECK(history.sequences.length() == 5);
  const ModelConfig& model = run.config().model;
  for (std::size_t i = 0; i < history.steps.size(); ++i) {
    const std::vector<double> weights = unpacked(history.weights[i]);
    REQUIRE(static_cast<Index>(weights.size()) == 2 * model.layers * model.heads * 15);
    std::vector<Site> sites;
    for (Index layer = 0; layer < model.layers; ++layer) sites.push_back(pattern(layer));
    Recorder recorder(sites);
    run_checkpoint(run, history.steps[i]).model(Pass().watched_by({recorder}), history.sequences.inputs);
    std::size_t place = 0;
    for (Index b = 0; b < 2; ++b)
      for (Index layer = 0; layer < model.layers; ++layer)
        for (Index head = 0; head < model.heads; ++head)
          for (Index query = 0; query < 5; ++query)
            for (Index key = 0; key <= query; ++key)
              CHECK(weights[place++] ==
                    doctest::Approx(static_cast<double>(recorder.at(pattern(layer))(b, head, query, key)))
                        .epsilon(1e-4));
  }
  CHECK(history.weights.front().data != history.weights.back().data);
}

TEST_CASE("where there would be too many weights, checkpoints are left out evenly, but for first and last") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  const ModelConfig& model = run.config().model;
  const Index each = model.layers * model.heads * 15;
  const auto steps_of = [&](Index most) {
    return history_of(run, {.sequences = 1, .positions = 5, .most = most}).steps;
  };
  CHECK(steps_of(6 * each) == Steps{0, 2, 4, 6, 8, 10});
  CHECK(steps_of(3 * each) == Steps{0, 6, 10});
  CHECK(steps_of(2 * each) == Steps{0, 10});
  CHECK(steps_of(1) == Steps{10});
}

TEST_CASE("a damaged checkpoint is left out and named, on any number of threads") {
  const Folder folder;
  const RunDirectory run = finished(folder);
  put(run.checkpoint_file(4), "nonsense");
  for (const int threads : {1, 3}) {
    const PatternHistory history = history_of(run, {.threads = threads});
    CHECK(history.steps == Steps{0, 2, 6, 8, 10});
    REQUIRE(history.faults.size() == 1);
    CHECK(history.faults.front().find("step-000004") != std::string::npos);
  }
  for (const Index step : run.checkpoint_steps()) put(run.checkpoint_file(step), "nonsense");
  CHECK_THROWS_WITH_AS(history_of(run, {}), doctest::Contains("no checkpoint of"), Error);
}
