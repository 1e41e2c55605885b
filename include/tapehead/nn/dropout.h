/// Inverted dropout, where the pass draws it.
#pragma once

#include "tapehead/nn/pass.h"

namespace tapehead {

class Dropout {
 public:
  /// Throws Error unless 0 <= probability <= 1.
  explicit Dropout(double probability);

  /// x with numbers dropped, or x itself in a pass without dropout.
  Variable operator()(Pass& pass, const Variable& x) const;

 private:
  double probability_;
};

}  // namespace tapehead
