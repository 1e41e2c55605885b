/// Maintenance lines, character by character, in which an identifier returns after filler.
#pragma once

#include <string>

#include "tapehead/tasks/task.h"

namespace tapehead {

/// Lines such as
///
///     P-104 pump leaks; new seal; cleaned; P-104 in service.
///
/// one after the other, each with an identifier of its own: the letter of an equipment and three random
/// digits. After each of one to four actions comes, evenly, another one or the identifier again. The first
/// line of a sequence is seen from somewhere in its ending on, and the last one is cut where the sequence is
/// full, so neither place nor distance tells what to copy.
///
/// A position is induction where its target is a digit of an identifier's second occurrence: nothing but the
/// first one tells which. Its letter is noise: it cannot be told from a match, as the identifier may return
/// or not.
class Identifier : public Task {
 public:
  struct Config {
    Index vocabulary = 64;  ///< of the model: at least that of the lines
    Index length = 96;      ///< positions of a sequence
  };

  /// How many different characters there are.
  static Index characters();
  /// With how many positions a sequence can hold a line that returns to its identifier.
  static Index shortest_length();

  /// Throws UsageError for sizes that do not fit.
  explicit Identifier(const Config& config);

  Batch sample(Generator& generator, Index count) const override;
  /// Lines of the same lengths, which return to their identifiers at the same places. Throws Error for
  /// sequences that are none of this task.
  Batch resample(const Batch& batch, Generator& generator) const override;
  /// How far apart the two occurrences can be.
  std::optional<Periods> periods() const override;
  std::shared_ptr<const Tokenizer> tokenizer() const override { return tokenizer_; }
  Index vocabulary() const override { return config_.vocabulary; }
  Index length() const override { return config_.length; }

 private:
  Config config_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace tapehead
