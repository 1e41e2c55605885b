/// What each site of a pass costs in matrix products.
///
/// Counted are multiplications and additions asked of them (see gemm_operations), as the formulas of the
/// literature count: 2d² a token for a (d, d) matrix. The way back is not seen: it costs twice as much, of
/// tiled attention two and a half times. Additive scores are no product, and are not counted.
#pragma once

#include <optional>
#include <vector>

#include "tapehead/nn/pass.h"

namespace tapehead {

/// Watches one pass, on one thread.
class OperationCounter : public Watcher {
 public:
  struct Count {
    Site site;
    Index operations;  ///< from the site before to this one; those of the first site are not known, and 0
  };

  /// Every site that came by, in order.
  const std::vector<Count>& counts() const { return counts_; }
  Index total() const;

  void check(const ModelConfig& config) const override;
  Variable visit(const Visit& at, const Variable& value) override;
  void finish(const std::vector<Site>& visited) const override;

 private:
  std::vector<Count> counts_;
  std::optional<Index> before_;
};

}  // namespace tapehead
