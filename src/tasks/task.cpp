#include "tapehead/tasks/task.h"

#include "tapehead/base/nearest.h"
#include "tapehead/base/require.h"
#include "tapehead/tasks/copied_segment.h"
#include "tapehead/tasks/identifier.h"
#include "tapehead/tasks/repeated_sequence.h"
#include "tapehead/tasks/text_windows.h"

namespace tapehead {

namespace {

template <class Value>
Table<Value> first_columns(const Table<Value>& table, Index length) {
  Table<Value> result(table.batch(), length);
  for (Index b = 0; b < table.batch(); ++b)
    for (Index t = 0; t < length; ++t) result(b, t) = table(b, t);
  return result;
}

std::unique_ptr<Task> make_repeated_sequence(const TaskConfig& config, Index vocabulary) {
  return std::make_unique<RepeatedSequence>(RepeatedSequence::Config{.vocabulary = vocabulary,
                                                                     .length = config.length,
                                                                     .period_min = config.period_min,
                                                                     .period_max = config.period_max});
}

std::unique_ptr<Task> make_fixed_period_sequence(const TaskConfig& config, Index vocabulary) {
  return std::make_unique<FixedPeriodSequence>(FixedPeriodSequence::Config{
      .vocabulary = vocabulary, .length = config.length, .period = config.period});
}

std::unique_ptr<Task> make_copied_segment(const TaskConfig& config, Index vocabulary) {
  return std::make_unique<CopiedSegment>(
      CopiedSegment::Config{.vocabulary = vocabulary, .length = config.length, .segment = config.segment});
}

std::unique_ptr<Task> make_identifier(const TaskConfig& config, Index vocabulary) {
  return std::make_unique<Identifier>(Identifier::Config{.vocabulary = vocabulary, .length = config.length});
}

std::unique_ptr<Task> make_text_windows(const TaskConfig& config, Index vocabulary) {
  return std::make_unique<TextWindows>(TextWindows::Config{.file = config.file,
                                                           .tokenizer = config.tokenizer,
                                                           .vocabulary = vocabulary,
                                                           .length = config.length,
                                                           .training_share = config.training_share});
}

}  // namespace

Batch Batch::rows(Index first, Index count) const {
  return {inputs.rows(first, count), targets.rows(first, count), kinds.rows(first, count),
          earlier_copy.rows(first, count)};
}

Batch Batch::shortened(Index length) const {
  require(length <= this->length(), "[task] expected at most {} positions, got {}", this->length(), length);
  return {first_columns(inputs, length), first_columns(targets, length), first_columns(kinds, length),
          first_columns(earlier_copy, length)};
}

Batch noise_batch(Index count, Index length) {
  require(count >= 0, "[task] expected at least 0 sequences, got {}", count);
  return {Tokens(count, length), Tokens(count, length), Table<Kind>(count, length, Kind::noise),
          Tokens(count, length, -1)};
}

const std::vector<TaskKind>& task_kinds() {
  static const std::vector<TaskKind> kinds{
      {"repeated_sequence", "a random segment, repeated; its length is drawn anew for every sequence", true,
       make_repeated_sequence},
      {"fixed_period_sequence", "the same with one length for all; one layer solves it by position", true,
       make_fixed_period_sequence},
      {"copied_segment", "random tokens, among them a segment and its copy at a random later place", true,
       make_copied_segment},
      {"identifier", "lines of text in which an identifier, such as P-104, returns after filler", true,
       make_identifier},
      {"text", "windows of a text, which ends in a part that is held out", false, make_text_windows},
  };
  return kinds;
}

const TaskKind& task_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TaskKind& kind : task_kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  throw UsageError(fmt::format("[task] no task {}; the nearest is {}", name, nearest(name, names)));
}

std::unique_ptr<Task> make_task(const TaskConfig& config, Index vocabulary) {
  return task_kind(config.name).make(config, vocabulary);
}

}  // namespace tapehead
