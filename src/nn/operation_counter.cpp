#include "tapehead/nn/operation_counter.h"

#include "tapehead/base/require.h"
#include "tapehead/tensor/gemm.h"

namespace tapehead {

Index OperationCounter::total() const {
  Index total = 0;
  for (const Count& count : counts_) total += count.operations;
  return total;
}

void OperationCounter::check(const ModelConfig& /*config*/) const {
  require(counts_.empty(), "[operations] a counter watches one pass, and this one has watched one already");
}

Variable OperationCounter::visit(const Visit& at, const Variable& value) {
  const Index now = gemm_operations();
  counts_.push_back({at.site, before_ ? now - *before_ : 0});
  before_ = now;
  return value;
}

void OperationCounter::finish(const std::vector<Site>& /*visited*/) const {}

}  // namespace tapehead
