/// A learned table of vectors, looked up by token id, and the read-out that may share it.
#pragma once

#include "tapehead/nn/pass.h"
#include "tapehead/nn/scope.h"
#include "tapehead/tensor/tokens.h"

namespace tapehead {

class Embedding {
 public:
  /// Registers `weight` (count, width), normal with standard deviation `deviation`.
  Embedding(const Scope& scope, Index count, Index width, double deviation);

  /// (B, T) ids to (B, T, C).
  Variable operator()(const Pass& pass, const Tokens& ids) const;
  /// The rows first, ..., first + count - 1, as (count, C): learned positions.
  Variable rows(const Pass& pass, Index first, Index count) const;
  /// The inner products of x (B, T, C) with every row: logits of a tied read-out, (B, T, count).
  Variable read_out(const Pass& pass, const Variable& x) const;

 private:
  Parameter weight_;
};

}  // namespace tapehead
