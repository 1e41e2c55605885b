/// Random segments, repeated: the task on which induction heads grow.
#pragma once

#include "tapehead/tasks/task.h"

namespace tapehead {

/// A segment of P random tokens repeated to fill the sequence, with P drawn anew for every sequence. Since
/// the distance back to the copy varies, it has to be found by content: the task of an induction head (Olsson
/// et al. 2022). From position P on (counted from 0) the target can be copied; before, it is noise.
class RepeatedSequence : public Task {
 public:
  struct Config {
    Index vocabulary = 64;
    Index length = 48;      ///< positions of a sequence
    Index period_min = 6;   ///< tokens
    Index period_max = 24;  ///< tokens
  };

  /// Throws UsageError for sizes that do not fit, and for period_min == period_max: see FixedPeriodSequence.
  explicit RepeatedSequence(const Config& config);

  Batch sample(Generator& generator, Index count) const override;
  Batch resample(const Batch& batch, Generator& generator) const override;
  std::optional<Periods> periods() const override { return Periods{config_.period_min, config_.period_max}; }
  std::vector<Outcome> outcomes(const Knowledge& knowledge) const override;
  Index vocabulary() const override { return config_.vocabulary; }
  Index length() const override { return config_.length; }

 private:
  Config config_;
};

/// The same with one period for all sequences. One layer solves it by looking a fixed distance back, so a
/// high accuracy here says nothing about induction heads; it is offered to show that, and warns.
class FixedPeriodSequence : public Task {
 public:
  struct Config {
    Index vocabulary = 64;
    Index length = 48;  ///< positions of a sequence
    Index period = 12;  ///< tokens
  };

  /// Throws UsageError for sizes that do not fit.
  explicit FixedPeriodSequence(const Config& config);

  Batch sample(Generator& generator, Index count) const override;
  Batch resample(const Batch& batch, Generator& generator) const override {
    return sample(generator, batch.size());
  }
  std::optional<Periods> periods() const override { return Periods{config_.period, config_.period}; }
  std::vector<Outcome> outcomes(const Knowledge& knowledge) const override;
  Index vocabulary() const override { return config_.vocabulary; }
  Index length() const override { return config_.length; }
  std::string warning() const override;

 private:
  Config config_;
};

}  // namespace tapehead
