#include "tapehead/nn/embedding.h"

#include "tapehead/autograd/fused.h"

namespace tapehead {

Embedding::Embedding(const Scope& scope, Index count, Index width, double deviation)
    : weight_(scope.add("weight", {count, width}, Start::normal(deviation))) {}

Variable Embedding::operator()(const Pass& pass, const Tokens& ids) const {
  return embedding(pass.parameter(weight_), ids);
}

Variable Embedding::rows(const Pass& pass, Index first, Index count) const {
  return pass.parameter(weight_.rows(first, count));
}

Variable Embedding::read_out(const Pass& pass, const Variable& x) const {
  return linear(x, pass.parameter(weight_));
}

}  // namespace tapehead
