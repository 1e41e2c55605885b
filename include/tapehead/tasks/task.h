/// Where batches come from. A task draws sequences and knows, for every position, what kind it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/base/random.h"
#include "tapehead/tasks/knowledge.h"
#include "tapehead/tensor/tokens.h"
#include "tapehead/text/tokenizer.h"

namespace tapehead {

/// Whether a position's target can be copied from earlier in its sequence: as the task made it, or, in a
/// text, as it turns out, its token having been followed by the target before.
enum class Kind : std::uint8_t { noise, induction };

/// Sequences of equal length; every table is (B, T). The target of position t is the token after it.
struct Batch {
  Tokens inputs;
  Tokens targets;
  Table<Kind> kinds;
  /// The last earlier position that this one repeats, token and target, or -1. Following it again and again
  /// visits every such position; in drawn sequences, those that are there by repetition and not by accident.
  Tokens earlier_copy;

  Index size() const { return inputs.batch(); }
  Index length() const { return inputs.length(); }
  /// The sequences first, ..., first + count - 1.
  Batch rows(Index first, Index count) const;
  /// Every sequence cut to its first positions. Throws Error for more than there are.
  Batch shortened(Index length) const;
};

/// How far back the copies of a task's sequences can lie, in tokens.
struct Periods {
  Index shortest = 0;
  Index longest = 0;

  bool contains(Index period) const { return shortest <= period && period <= longest; }
};

/// A batch of zeros in which nothing can be copied: what a task fills in. Throws Error for a negative count.
Batch noise_batch(Index count, Index length);

class Task {
 public:
  virtual ~Task() = default;
  /// `count` fresh sequences; the generator moves on. Throws Error for a negative count.
  virtual Batch sample(Generator& generator, Index count) const = 0;
  /// The same from what is never trained on, where there is such a part; where sequences are drawn fresh,
  /// that is any other stream of the generator.
  virtual Batch sample_held_out(Generator& generator, Index count) const { return sample(generator, count); }
  /// All that is held out, once, in order; without sequences where there is no end to it.
  virtual Batch held_out() const { return {}; }
  /// For every sequence of `batch`, which this task drew, an independent one of the same structure: with the
  /// same positions that repeat others. Where sequences have no structure of their own, any held-out ones.
  virtual Batch resample(const Batch& batch, Generator& generator) const {
    return sample_held_out(generator, batch.size());
  }
  /// At which distances its sequences repeat; nothing where they do not do so by construction.
  virtual std::optional<Periods> periods() const { return std::nullopt; }
  /// Every case of what the next token may be, given what is known of the first ones of a sequence that this
  /// task drew, weighed by how the task draws; nothing where it has no such law.
  virtual std::vector<Outcome> outcomes(const Knowledge& /*knowledge*/) const { return {}; }
  /// What turns tokens into text; null where they mean nothing.
  virtual std::shared_ptr<const Tokenizer> tokenizer() const { return nullptr; }
  /// Tells the data of one task from others': equal for equal data. Empty where the config says it all.
  virtual std::string fingerprint() const { return {}; }
  /// Token ids are 0, ..., vocabulary() - 1.
  virtual Index vocabulary() const = 0;
  /// T of every batch.
  virtual Index length() const = 0;
  /// What a user of this task should be told before a run, or nothing.
  virtual std::string warning() const { return {}; }
};

/// The [task] table of a config; fields that a task does not use keep their defaults.
struct TaskConfig {
  std::string name = "repeated_sequence";
  Index length = 48;                     ///< positions a sequence, each with a target
  Index period_min = 6;                  ///< repeated_sequence: the shortest segment, in tokens
  Index period_max = 24;                 ///< repeated_sequence: the longest segment, in tokens
  Index period = 12;                     ///< fixed_period_sequence: the segment's length, in tokens
  Index segment = 12;                    ///< copied_segment: the segment's length, in tokens
  std::string file = "";                 ///< text: a path
  std::string tokenizer = "characters";  ///< text: "characters", or the path of a tokenizer's folder
  double training_share = 0.9;           ///< text: of the characters; the rest is held out

  friend bool operator==(const TaskConfig&, const TaskConfig&) = default;
};

/// One row of the table of tasks.
struct TaskKind {
  std::string_view name;
  std::string_view summary;
  /// Whether its sequences repeat by construction, so that learning to copy them has a beginning and an end.
  bool repeats;
  std::unique_ptr<Task> (*make)(const TaskConfig& config, Index vocabulary);
};

/// Every task there is.
const std::vector<TaskKind>& task_kinds();

/// The row of that name. Throws UsageError, with the nearest name, where there is none.
const TaskKind& task_kind(std::string_view name);

/// The task of that name over `vocabulary` tokens. Throws UsageError for an unknown name (with the nearest
/// known one) and for sizes that do not fit together, Error for files that cannot be read.
std::unique_ptr<Task> make_task(const TaskConfig& config, Index vocabulary);

}  // namespace tapehead
