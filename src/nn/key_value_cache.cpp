#include "tapehead/nn/key_value_cache.h"

#include <algorithm>

#include "tapehead/base/require.h"

namespace tapehead {

KeyValueCache::KeyValueCache(const ModelConfig& config) {
  for (Index layer = 0; layer < config.layers; ++layer) {
    keys_.push_back(Tensor::uninitialised({config.context, config.width}));
    values_.push_back(Tensor::uninitialised({config.context, config.width}));
  }
}

Variable KeyValueCache::add(std::vector<Tensor>& store, Index layer, const Variable& rows) {
  require(layer >= 0 && layer < static_cast<Index>(store.size()), "[cache] no layer {} of {}", layer,
          store.size());
  Tensor& all = store[static_cast<std::size_t>(layer)];
  const Shape& shape = rows.shape();
  const Index width = all.shape()[1];
  require(shape.rank() == 3 && shape[0] == 1 && shape[2] == width,
          "[cache] expected keys and values (1, T, {}) of one text, got {}", width, shape);
  require(length_ + shape[1] <= all.shape()[0],
          "[cache] {} positions after {} are more than the context of {}", shape[1], length_, all.shape()[0]);
  std::copy_n(rows.data(), shape.count(), all.data() + length_ * width);
  return constant(all.data(), {1, length_ + shape[1], width});
}

}  // namespace tapehead
