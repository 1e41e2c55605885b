#include "tapehead/kernels/tiled_attention_cost.h"

#include "tapehead/kernels/attention_tiles.h"

namespace tapehead::kernels {

namespace {

/// The sum over all tiles of all heads, which have the same tiles.
template <class F>
Index sum_over_tiles(AttentionSizes s, bool causal, Index step, const F& operations) {
  Index sum = 0;
  const auto nothing = [](Index, Index) {};
  for_each_tile(
      s, causal, step, nothing, [&](const Tile& tile) { sum += operations(tile); }, nothing);
  return s.batch * s.heads * sum;
}

}  // namespace

TiledAttentionCost tiled_attention_forward_cost(AttentionSizes s, bool causal) {
  // scores = scale q kᵀ, over whole vectors of keys, and weights * values
  const auto operations = [&](const Tile& tile) {
    return 2 * tile.queries * s.head_width * (whole_lanes(tile.keys) + tile.keys);
  };
  const Index block = block_room(s) * s.head_width;
  return {sum_over_tiles(s, causal, kStripQueries, operations), {block, block, kStripQueries * kTileKeys}};
}

TiledAttentionCost tiled_attention_backward_cost(AttentionSizes s, bool causal) {
  const auto operations = [&](const Tile& tile) {
    // The gradients of keys and of values, gathered from a whole tile,
    Index sum = 4 * tile.keys * s.head_width * tile.queries;
    // and strip by strip the scores again, the gradients of the weights and those of the queries.
    for (Index first = 0; first < tile.queries; first += kStripQueries) {
      const Tile strip = tile.part(first, std::min(kStripQueries, tile.queries - first));
      sum += 2 * strip.queries * s.head_width * (2 * whole_lanes(strip.keys) + strip.keys);
    }
    return sum;
  };
  const Index block = block_room(s) * s.head_width;
  const Index tile = kTileQueries * kTileKeys;
  // Keys along and across, values across, the gradients of both; weights and scores; a mean a query.
  return {sum_over_tiles(s, causal, kTileQueries, operations),
          {block, block, block, block, block, tile, tile, s.length}};
}

}  // namespace tapehead::kernels
