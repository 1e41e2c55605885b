/// How attention is cut into tiles, and what of a tile's scores may be seen.
///
/// A block of keys is the outer loop, a tile of queries the next, and a tile of the block's keys the
/// innermost: what is laid out anew for a block stays in the second cache and serves all queries that see it.
/// Included by the sources of kernels only.
#pragma once

#include <algorithm>
#include <array>

#include "tapehead/kernels/attention_heads.h"
#include "tapehead/kernels/lanes.h"
#include "tapehead/kernels/tiled_attention.h"

namespace tapehead::kernels {

inline constexpr Index kTileKeys = 128;             // whole vectors
inline constexpr Index kBlockKeys = 8 * kTileKeys;  // their keys and values fill half of the second cache
inline constexpr Index kTileQueries = 96;           // whole tiles of gemm's, as are those of a strip,
inline constexpr Index kStripQueries = 24;          // whose scores stay in the first cache

/// Numbers in as many vectors as `count` of them take.
inline Index whole_lanes(Index count) { return (count + kLanes - 1) / kLanes * kLanes; }

/// How many keys of room a block takes.
inline Index block_room(AttentionSizes s) {
  return std::min(kBlockKeys, (s.keys() + kTileKeys - 1) / kTileKeys * kTileKeys);
}

/// Some queries by some keys. Their scores lie kTileKeys apart, and end with a whole vector.
struct Tile {
  Index query;    ///< the first
  Index queries;  ///< how many
  Index key;      ///< the first
  Index offset;   ///< of that key in its block
  Index keys;     ///< how many
  Index seen;     ///< how many of them the first query may see by position; one more for every next query

  /// Some of the queries, and the keys that one of them sees.
  Tile part(Index first, Index count) const {
    return {query + first, count, key, offset, std::min(keys, seen + first + count - 1), seen + first};
  }
};

/// For every block of keys, calls begin(key, keys), visit(tile) for all its tiles of at most `step` queries
/// in which a key is seen, and end(key, keys).
template <class Begin, class Visit, class End>
void for_each_tile(AttentionSizes s, bool causal, Index step, const Begin& begin, const Visit& visit,
                   const End& end) {
  for (Index block = 0; block < s.keys(); block += kBlockKeys) {
    const Index stop = std::min(block + kBlockKeys, s.keys());
    begin(block, stop - block);
    for (Index query = causal ? std::max<Index>(0, block - s.earlier) : 0; query < s.length; query += step) {
      const Index last = std::min(query + step, s.length);
      for (Index key = block; key < stop; key += kTileKeys) {
        const Index first = causal ? std::max(query, key - s.earlier) : query;
        if (first >= last) break;
        const Index keys = std::min(kTileKeys, stop - key);
        const Tile whole{first, 0, key, key - block, keys, causal ? s.earlier + first + 1 - key : keys};
        visit(whole.part(0, last - first));
      }
    }
    end(block, stop - block);
  }
}

/// What turns one head's scaled products of queries and keys into scores.
class ScoreRule {
 public:
  ScoreRule(Scoring scoring, Sight sight, HeadPlace at, AttentionSizes s)
      : slope_(scoring.slopes == nullptr ? 0 : scoring.slopes[at.head]),
        visible_(sight.visible == nullptr ? nullptr : sight.visible + at.sequence * s.keys()),
        earlier_(s.earlier) {}

  void begin_block(Index key, Index keys) {
    hides_ =
        visible_ != nullptr && std::find(visible_ + key, visible_ + key + keys, 0) < visible_ + key + keys;
    if (hides_) std::copy_n(visible_ + key, keys, shown_.begin());
  }

  /// Adds the slope to a tile's scores, and hides what is not to be seen.
  void apply(Real* scores, const Tile& tile) const {
    if (tile.seen >= whole_lanes(tile.keys) && !hides_ && slope_ == 0) return;
    for (Index i = 0; i < tile.queries; ++i) {
      const Lanes seen(static_cast<Real>(std::min(tile.seen + i, tile.keys)));
      const Lanes ahead(static_cast<Real>(tile.key - earlier_ - tile.query - i));
      for (Index j = 0; j < tile.keys; j += kLanes) {
        Real* at = scores + i * kTileKeys + j;
        const Lanes place = lane_numbers() + Lanes(static_cast<Real>(j));
        Lanes score = Lanes::load_unaligned(at) + Lanes(slope_) * (place + ahead);
        score = xsimd::select(place < seen, score, Lanes(kHiddenScore));
        if (hides_) {
          const Lanes shown = Lanes::load_unaligned(shown_.data() + tile.offset + j);
          score = xsimd::select(shown != Lanes(Real{0}), score, Lanes(kHiddenScore));
        }
        score.store_unaligned(at);
      }
    }
  }

  /// The first query that sees a key; those before it see none.
  Index first_query(AttentionSizes s, bool causal) const {
    if (visible_ == nullptr) return 0;
    const std::uint8_t* end = visible_ + s.keys();
    const std::uint8_t* first = std::find_if(visible_, end, [](std::uint8_t key) { return key != 0; });
    if (first == end) return s.length;
    return causal ? std::max<Index>(0, first - visible_ - s.earlier) : 0;
  }

 private:
  Real slope_;
  const std::uint8_t* visible_;
  Index earlier_;
  bool hides_ = false;
  std::array<Real, kBlockKeys> shown_ = {};
};

}  // namespace tapehead::kernels
