/// Every differentiable op there is, once or more, ready to be called: what must hold for all of them is
/// tested on this list.
#pragma once

#include <string>
#include <vector>

#include "support/functions.h"

namespace tapehead::testing {

struct Op {
  std::string name;
  std::vector<Tensor> inputs;
  Function function;
};

/// With operands of one shape, and with either of them broadcast.
std::vector<Op> elementary_ops();

/// With and without what is optional; ids repeat, targets are ignored, and queries see nothing.
std::vector<Op> fused_ops();

/// Both.
std::vector<Op> every_op();

}  // namespace tapehead::testing
