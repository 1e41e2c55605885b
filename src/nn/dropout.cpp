#include "tapehead/nn/dropout.h"

#include "tapehead/autograd/fused.h"
#include "tapehead/base/require.h"

namespace tapehead {

Dropout::Dropout(double probability) : probability_(probability) {
  require(probability >= 0 && probability <= 1, "[dropout] expected a probability between 0 and 1, got {}",
          probability);
}

Variable Dropout::operator()(Pass& pass, const Variable& x) const {
  Generator* generator = pass.dropout();
  return generator == nullptr ? x : dropout(x, probability_, *generator);
}

}  // namespace tapehead
