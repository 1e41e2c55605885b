/// What a model has read of a text so far, so that reading on costs only what is new: every layer's keys and
/// values of every position.
///
/// For one text at a time, and for passes without a tape. It belongs to one model with its parameters as they
/// were: another model, or changed parameters, need a fresh one.
#pragma once

#include <vector>

#include "tapehead/autograd/variable.h"
#include "tapehead/nn/model_config.h"

namespace tapehead {

class KeyValueCache {
 public:
  /// Room for `context` positions of a model of this config. Throws Error for sizes that memory cannot hold.
  explicit KeyValueCache(const ModelConfig& config);

  /// Positions read so far.
  Index length() const { return length_; }
  /// Forgets them all.
  void clear() { length_ = 0; }

  // For the model, in a pass that reads T positions more.

  /// Takes their keys (values) (1, T, C) at one layer; returns those of all positions, (1, length() + T, C).
  /// Throws Error for more than one sequence, and beyond the context.
  Variable add_keys(Index layer, const Variable& keys) { return add(keys_, layer, keys); }
  Variable add_values(Index layer, const Variable& values) { return add(values_, layer, values); }
  /// The pass is over: its T positions count as read.
  void advance(Index positions) { length_ += positions; }

 private:
  Variable add(std::vector<Tensor>& store, Index layer, const Variable& rows);

  Index length_ = 0;
  std::vector<Tensor> keys_;  // a layer each, (context, C)
  std::vector<Tensor> values_;
};

}  // namespace tapehead
