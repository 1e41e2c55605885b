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

  bool empty() const { return edits_.empty(); }

  void check(const ModelConfig& config) const override;
  Variable visit(const Visit& at, const Variable& value) override;
  void finish(const std::vector<Site>& visited) const override;

 private:
  struct Edit {
    Site site;
    Replacement replacement;
  };
  std::vector<Edit> edits_;
};

}  // namespace tapehead
