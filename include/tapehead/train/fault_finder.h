/// Where in a model the first number was made that is not finite.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tapehead/nn/pass.h"

namespace tapehead {

/// Watches one pass that records on a tape with `look_for_fault`, and notes by when each site was reached.
class FaultFinder : public Watcher {
 public:
  explicit FaultFinder(const Tape& tape) : tape_(&tape) {}

  void check(const ModelConfig&) const override {}
  Variable visit(const Visit& at, const Variable& value) override;
  void finish(const std::vector<Site>&) const override {}

  /// "attention_pattern, which leads to blocks.0.attention.pattern, made the first" and so on; empty where
  /// every number was finite.
  std::string finding() const;

 private:
  const Tape* tape_;
  std::vector<std::pair<Site, std::size_t>> reached_;  // and how many ops were recorded by then
};

}  // namespace tapehead
