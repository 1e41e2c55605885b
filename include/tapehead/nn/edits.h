/// Changes to a pass from outside: `edits.zero(head_output(0, 1))`.
///
/// An edit lives in the pass and not in the model. It is made of ordinary recorded ops, so gradients through
/// it are right. An edit of a site the model does not have is an error before the pass, one whose site never
/// came by is an error after it.
#pragma once

#include <functional>
#include <vector>

#include "tapehead/nn/pass.h"

namespace tapehead {

/// What a mean is taken over: the sequences, for each position on its own, or the positions as well.
enum class MeanOver { sequences, sequences_and_positions };

class Edits : public Watcher {
 public:
  /// Gives what a site's value is replaced by, for the sequences from `first_sequence` on; same shape.
  using Replacement = std::function<Variable(const Variable& value, Index first_sequence)>;

  /// Replaces the value of a site, or one head's part of it. Edits of one site act in the order given.
  Edits& replace(const Site& site, Replacement replacement);
  /// Puts zeros there.
  Edits& zero(const Site& site);
  /// Multiplies by a factor there.
  Edits& scale(const Site& site, Real factor);
  /// Puts these values there, a row a sequence of the whole batch, as a Recorder of the site gives them. A
  /// pass whose sequences have no rows, or rows of another shape, is an Error.
  Edits& put(const Site& site, Tensor values);
  /// The same at these positions alone (of a pattern: these queries); the others keep what they have. Throws
  /// Error for no positions; one that a pass does not have is an Error there.
  Edits& put(const Site& site, Tensor values, std::vector<Index> positions);
  /// Puts the mean of `reference` there, which came by the site in other sequences of the same length. Throws
  /// Error for a reference without sequences.
  Edits& mean(const Site& site, const Tensor& reference, MeanOver over = MeanOver::sequences);

  bool empty() const { return edits_.empty(); }

  void check(const ModelConfig& config) const override;
  Variable visit(const Visit& at, const Variable& value) override;
  void finish(const std::vector<Site>& visited) const override;
  void bring_together(Ranks&, std::span<const Index>) override {}  // it keeps nothing

 private:
  struct Edit {
    Site site;
    Replacement replacement;
  };
  std::vector<Edit> edits_;
};

}  // namespace tapehead
