/// Maintenance lines, character by character, in which an identifier returns after filler.
#pragma once

#include <string>

#include "tapehead/tasks/task.h"

namespace tapehead {

/// Lines such as
///
///     P-104 pump vibration high; checked seal; replaced bearing; P-104 back in service.
///
/// one after the other, each with an identifier of its own, from the beginning of a line on and cut where the
/// sequence is full. An identifier is the letter of an equipment and three random digits. After each action
/// comes, evenly, another one or the identifier again, so that neither the place nor the distance tells that
/// it returns.
///
/// A position is induction where its target is a digit of an identifier's second occurrence: nothing but the
/// first occurrence tells which. Its letter is noise: that the identifier returns cannot be known before.
class Identifier : public Task {
 public:
  struct Config {
    Index vocabulary = 64;  ///< of the model: at least that of the lines
    Index length = 128;     ///< positions of a sequence
  };

  /// How many different characters there are.
  static Index characters();
  /// How many positions the shortest line needs to return to its identifier.
  static Index shortest_length();

  /// Throws UsageError for sizes that do not fit.
  explicit Identifier(const Config& config);

  Batch sample(Generator& generator, Index count) const override;
  /// Lines of the same lengths, which return at the same places after as many actions, as far as that can be
  /// seen. Throws Error for sequences that are none of this task.
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
