#include "tapehead/nn/recurrent.h"

#include <cmath>

#include "tapehead/autograd/recurrence.h"

namespace tapehead {

Recurrent::Recurrent(const Scope& scope, Index inputs, Index width)
    : input_(scope / "input", inputs, width, true),
      state_(scope.add("state", {width, width}, Start::normal(1 / std::sqrt(static_cast<double>(width))))) {}

Variable Recurrent::operator()(const Pass& pass, const Variable& x) const {
  return recurrence(input_(pass, x), pass.parameter(state_));
}

}  // namespace tapehead
