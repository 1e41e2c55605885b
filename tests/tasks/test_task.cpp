#include "tapehead/tasks/task.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/folder.h"
#include "support/testing.h"
#include "tapehead/base/require.h"
#include "tapehead/tasks/repeated_sequence.h"

namespace tapehead {

namespace {

/// A config for every task of the table, with a text for those that read one.
std::vector<TaskConfig> every_task(const testing::Folder& folder, Index length) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += static_cast<char>('a' + i * i % 16);
  testing::put(folder / "text", text);
  std::vector<TaskConfig> configs;
  for (const TaskKind& kind : task_kinds())
    configs.push_back({.name = std::string(kind.name),
                       .length = length,
                       .period_max = length / 2,
                       .segment = length / 4,
                       .file = (folder / "text").string()});
  return configs;
}

}  // namespace

TEST_CASE("every task of the table is made by its name, and gives batches of the sizes it promises") {
  const testing::Folder folder;
  std::set<std::string> names;
  for (const TaskKind& kind : task_kinds()) CHECK(!kind.summary.empty());
  for (const TaskConfig& config : every_task(folder, 40)) {
    CAPTURE(config.name);
    CHECK(names.insert(config.name).second);
    const auto task = make_task(config, 64);
    CHECK(task->vocabulary() == 64);
    CHECK(task->length() == 40);
    Generator generator(1);
    const Batch batch = task->sample(generator, 5);
    CHECK(batch.size() == 5);
    CHECK(batch.length() == 40);
    CHECK(batch.targets.batch() == 5);
    CHECK(batch.targets.length() == 40);
    CHECK(batch.kinds.count() == 200);
    CHECK(batch.earlier_copy.count() == 200);
    for (const Tokens& tokens : {batch.inputs, batch.targets})
      for (const std::int32_t id : tokens.values()) CHECK((id >= 0 && id < 64));
  }
  CHECK(names == std::set<std::string>{"repeated_sequence", "fixed_period_sequence", "copied_segment",
                                       "identifier", "text"});
}

TEST_CASE("the target of every position is the token after it") {
  const testing::Folder folder;
  for (const TaskConfig& config : every_task(folder, 40)) {
    Generator generator(1);
    const std::unique_ptr<Task> task = make_task(config, 64);
    for (const Batch& batch : {task->sample(generator, 8), task->sample_held_out(generator, 8)})
      for (Index b = 0; b < 8; ++b)
        for (Index t = 0; t + 1 < batch.length(); ++t) CHECK(batch.targets(b, t) == batch.inputs(b, t + 1));
  }
}

TEST_CASE("the fields of the config reach the task they are for") {
  Generator generator(1);
  const Batch fixed =
      make_task({.name = "fixed_period_sequence", .length = 9, .period = 4}, 8)->sample(generator, 3);
  for (Index t = 0; t < 9; ++t) CHECK(fixed.earlier_copy(2, t) == (t < 4 ? -1 : t - 4));
  const Batch drawn = make_task({.length = 9, .period_min = 7, .period_max = 8}, 8)->sample(generator, 50);
  for (Index b = 0; b < 50; ++b) {
    CHECK(drawn.kinds(b, 6) == Kind::noise);
    CHECK(drawn.kinds(b, 8) == Kind::induction);
  }
  const Batch copied =
      make_task({.name = "copied_segment", .length = 9, .segment = 4}, 8)->sample(generator, 3);
  for (Index b = 0; b < 3; ++b) {
    Index induction = 0;
    for (Index t = 0; t < 9; ++t) induction += copied.kinds(b, t) == Kind::induction ? 1 : 0;
    CHECK(induction == 3);
  }
}

TEST_CASE("an unknown task gets the nearest one for an answer") {
  CHECK_THROWS_WITH_AS(make_task({.name = "repeated_sequences"}, 64),
                       "[task] no task repeated_sequences; the nearest is repeated_sequence", UsageError);
}

TEST_CASE("the rows of a batch are the same sequences with everything known about them") {
  Generator generator(1);
  const Batch batch = make_task({}, 64)->sample(generator, 6);
  const Batch rows = batch.rows(2, 3);
  CHECK(rows.size() == 3);
  CHECK(rows.length() == batch.length());
  for (Index b = 0; b < 3; ++b)
    for (Index t = 0; t < batch.length(); ++t) {
      CHECK(rows.inputs(b, t) == batch.inputs(2 + b, t));
      CHECK(rows.targets(b, t) == batch.targets(2 + b, t));
      CHECK(rows.kinds(b, t) == batch.kinds(2 + b, t));
      CHECK(rows.earlier_copy(b, t) == batch.earlier_copy(2 + b, t));
    }
  CHECK_THROWS_AS(batch.rows(4, 3), Error);
}

TEST_CASE("a batch cut short keeps the first positions of every sequence as they were") {
  const RepeatedSequence task({.vocabulary = 9, .length = 12, .period_min = 3, .period_max = 4});
  Generator generator(1);
  const Batch batch = task.sample(generator, 3);
  const Batch cut = batch.shortened(7);
  CHECK(cut.size() == 3);
  CHECK(cut.length() == 7);
  for (Index b = 0; b < 3; ++b)
    for (Index t = 0; t < 7; ++t) {
      CHECK(cut.inputs(b, t) == batch.inputs(b, t));
      CHECK(cut.targets(b, t) == batch.targets(b, t));
      CHECK(cut.kinds(b, t) == batch.kinds(b, t));
      CHECK(cut.earlier_copy(b, t) == batch.earlier_copy(b, t));
    }
  CHECK_THROWS_WITH_AS(batch.shortened(13), doctest::Contains("at most 12 positions, got 13"), Error);
}

}  // namespace tapehead
