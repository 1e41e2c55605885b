/// One segment of a random sequence, copied to a later place: a rare thing to find, with noise around it.
#pragma once

#include "tapehead/tasks/task.h"

namespace tapehead {

/// `length` + 1 random tokens, of which S = `segment` in a row stand a second time further on: those from
/// `first` on are copied to `second` and what follows it. `first` is drawn evenly from the earlier half of
/// the places that leave room for both, 0, ..., (length + 1 - 2 S) / 2, so that wherever the segment stands
/// there are many places for its copy; `second` evenly from those that do not overlap it, first + S, ...,
/// length + 1 - S.
///
/// A position is induction where its token and its target are the copy's: second, ..., second + S - 2. The
/// copy's first token cannot be told from a match, so the position before it is noise like all others.
class CopiedSegment : public Task {
 public:
  struct Config {
    Index vocabulary = 64;
    Index length = 48;   ///< positions of a sequence
    Index segment = 12;  ///< tokens
  };

  /// Throws UsageError for sizes that do not fit, and where there would be one distance only between a
  /// segment and its copy, which position alone would solve.
  explicit CopiedSegment(const Config& config);

  Batch sample(Generator& generator, Index count) const override;
  /// The same places, other tokens.
  Batch resample(const Batch& batch, Generator& generator) const override;
  /// How far a copy can stand after its segment: S, ..., length + 1 - S; short distances are the likelier.
  std::optional<Periods> periods() const override {
    return Periods{config_.segment, config_.length + 1 - config_.segment};
  }
  std::vector<Outcome> outcomes(const Knowledge& knowledge) const override;
  Index vocabulary() const override { return config_.vocabulary; }
  Index length() const override { return config_.length; }

 private:
  /// The last place where a segment can begin.
  Index last_first() const { return (config_.length + 1 - 2 * config_.segment) / 2; }
  void fill_row(Batch& batch, Index b, Index first, Index second, Generator& generator) const;

  Config config_;
};

}  // namespace tapehead
