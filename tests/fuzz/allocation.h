/// How much a piece of a program allocates. Whoever links allocation.cpp has its `new` and `delete` counted.
#pragma once

#include "tapehead/base/number.h"

namespace tapehead::fuzz {

/// Watches from its beginning to its end; one at a time.
class AllocationPeak {
 public:
  AllocationPeak();
  /// Bytes in use at the highest, beyond those in use at the beginning: by `new`, and by tensors.
  Index bytes() const;

 private:
  Index at_start_ = 0;
};

}  // namespace tapehead::fuzz
