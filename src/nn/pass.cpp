#include "tapehead/nn/pass.h"

#include "tapehead/base/require.h"

namespace tapehead {

void Watcher::bring_together(Ranks& ranks, std::span<const Index>) {
  require(ranks.alone(), "[pass] a watcher of a pass on several ranks does not bring together what it saw");
}

Pass Pass::watched_by(Watch watch, Index first_sequence) && {
  watch_ = std::move(watch);
  first_sequence_ = first_sequence;
  return std::move(*this);
}

Pass Pass::reading_on(KeyValueCache& cache) && {
  require(tape_ == nullptr, "[pass] what was read before is on no tape: a pass that reads on cannot record");
  cache_ = &cache;
  return std::move(*this);
}

Variable Pass::parameter(const Parameter& parameter) const {
  return tape_ == nullptr ? constant(parameter) : tape_->parameter(parameter);
}

Variable Pass::at(const Site& site, Variable value) {
  if (watch_.empty()) return value;
  visited_.push_back(site);
  for (Watcher& watcher : watch_) {
    Variable next = watcher.visit({site, heads_, first_sequence_}, value);
    require(next && next.shape() == value.shape(),
            "[pass] a watcher of {} must keep its shape {}, it returned {}", site, value.shape(),
            next ? next.shape() : Shape{0});
    value = std::move(next);
  }
  return value;
}

void Pass::begin(const ModelConfig& config) {
  visited_.clear();
  heads_ = config.heads;
  for (const Watcher& watcher : watch_) watcher.check(config);
}

void Pass::end() {
  for (const Watcher& watcher : watch_) watcher.finish(visited_);
}

}  // namespace tapehead
