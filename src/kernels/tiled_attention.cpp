// Keys are the outer loop, queries the inner one: what is laid out anew for a tile of keys serves all queries
// that see it, and the tile's gradients stay in the cache. Outputs and the queries' gradients are gathered
// where they belong.

#include "tapehead/kernels/tiled_attention.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tapehead/kernels/lanes.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/tensor/memory.h"

namespace tapehead::kernels {

namespace {

constexpr Index kQueries = 96;  // whole tiles of gemm's
constexpr Index kKeys = 64;     // whole vectors

constexpr Real kHidden = -std::numeric_limits<Real>::infinity();

/// One head of one sequence: where it begins in (B, T, H*D), in (B, K, H*D) and in (B, H, T) arrays.
struct HeadPlace {
  Index sequence;
  Index head;
  Index query;
  Index key;
  Index row;
};

template <class F>
void for_each_head(AttentionSizes s, const F& f) {
  const Index width = s.heads * s.head_width;
  for (Index b = 0; b < s.batch; ++b)
    for (Index h = 0; h < s.heads; ++h)
      f(HeadPlace{b, h, b * s.length * width + h * s.head_width, b * s.keys() * width + h * s.head_width,
                  (b * s.heads + h) * s.length});
}

/// Some queries by some keys.
struct Tile {
  Index query;    ///< the first
  Index queries;  ///< how many
  Index key;
  Index keys;
  Index seen;  ///< how many of the keys come no later than the first query, at most; one more for the next

  bool is_first() const { return key == 0; }
  /// Vectors that the keys take, in numbers.
  Index width() const { return (keys + kLanes - 1) / kLanes * kLanes; }
  bool is_whole() const { return seen >= width(); }
  Triangle if_diagonal(Triangle triangle) const { return seen == 1 ? triangle : Triangle::none; }
};

/// Calls begin(tile of keys) and then visit(tile) for all queries that see some of those keys.
template <class Begin, class Visit>
void for_each_tile(AttentionSizes s, bool causal, const Begin& begin, const Visit& visit) {
  for (Index key = 0; key < s.keys(); key += kKeys) {
    Tile tile{0, 0, key, std::min(kKeys, s.keys() - key), 0};
    begin(tile);
    for (Index query = causal ? std::max<Index>(0, key - s.earlier) : 0; query < s.length;
         query += kQueries) {
      tile.query = query;
      tile.queries = std::min(kQueries, s.length - query);
      tile.seen = causal ? std::min(s.earlier + query + 1 - key, kKeys) : tile.keys;
      visit(tile);
    }
  }
}

/// Rows of a head, transposed: element (d, j) lies at to[d * kKeys + j]; zeros up to `width`.
void transpose(Real* to, const Real* rows, Index stride, Index count, Index width, Index head_width) {
  for (Index d = 0; d < head_width; ++d) {
    for (Index j = 0; j < count; ++j) to[d * kKeys + j] = rows[j * stride + d];
    std::fill(to + d * kKeys + count, to + d * kKeys + width, Real{0});
  }
}

/// What turns one head's products of queries and keys into scores, beside the scale.
class Rule {
 public:
  Rule(Scoring scoring, Sight sight, HeadPlace at, AttentionSizes s)
      : slope_(scoring.slopes == nullptr ? 0 : scoring.slopes[at.head]),
        visible_(sight.visible == nullptr ? nullptr : sight.visible + at.sequence * s.keys()),
        earlier_(s.earlier) {}

  void begin(const Tile& tile) {
    if (visible_ == nullptr) return;
    hides_ = false;
    for (Index j = 0; j < tile.keys; ++j) {
      shown_[static_cast<std::size_t>(j)] = visible_[tile.key + j];
      hides_ = hides_ || visible_[tile.key + j] == 0;
    }
  }

  /// Adds the slope, and hides what is not to be seen, in a tile's rows.
  void apply(Real* rows, const Tile& tile) const {
    if (tile.is_whole() && !hides_ && slope_ == 0) return;
    for (Index i = 0; i < tile.queries; ++i) {
      const Lanes seen(static_cast<Real>(std::min(tile.seen + i, tile.keys)));
      const Lanes ahead(static_cast<Real>(tile.key - earlier_ - tile.query - i));
      for (Index j = 0; j < tile.width(); j += kLanes) {
        Real* at = rows + i * kKeys + j;
        const Lanes place = lane_numbers() + Lanes(static_cast<Real>(j));
        Lanes score = Lanes::load_unaligned(at) + Lanes(slope_) * (place + ahead);
        score = xsimd::select(place < seen, score, Lanes(kHidden));
        if (hides_)
          score =
              xsimd::select(Lanes::load_unaligned(shown_.data() + j) > Lanes(Real{0}), score, Lanes(kHidden));
        score.store_unaligned(at);
      }
    }
  }

  /// The first query that sees a key: before it there is nothing to see.
  Index first_query(AttentionSizes s, bool causal) const {
    if (visible_ == nullptr) return 0;
    const Index first = std::find_if(visible_, visible_ + s.keys(), [](auto v) { return v != 0; }) - visible_;
    if (first == s.keys()) return s.length;
    return causal ? std::max<Index>(0, first - s.earlier) : 0;
  }

 private:
  Real slope_;
  const std::uint8_t* visible_;
  Index earlier_;
  std::array<Real, kKeys> shown_ = {};
  bool hides_ = false;
};

void scale_row(Real* row, Real factor, Index n) {
  for (Index d = 0; d < n; ++d) row[d] *= factor;
}

/// Folds a tile's scores into the rows' running maxima and sums; scores become weights before their division.
/// `factors` says by what each row's earlier output has to be multiplied.
void fold(Real* rows, Real* factors, Real* largest, Real* totals, const Tile& tile) {
  for (Index i = 0; i < tile.queries; ++i) {
    Lanes peak = Lanes::load_unaligned(rows + i * kKeys);
    for (Index j = kLanes; j < tile.width(); j += kLanes)
      peak = xsimd::max(peak, Lanes::load_unaligned(rows + i * kKeys + j));
    factors[i] = largest_of(peak);
  }
  for_each_lanes(tile.queries, [&](Index i, Index lanes) {
    const Lanes before = load(largest + i, lanes);
    const Lanes now = xsimd::max(before, load(factors + i, lanes));
    // Where nothing was seen yet, any finite number will do.
    const Lanes shift = xsimd::select(now == Lanes(kHidden), Lanes(Real{0}), now);
    store(factors + i, xsimd::exp(before - shift), lanes);
    store(largest + i, now, lanes);
  });
  for (Index i = 0; i < tile.queries; ++i) {
    const Lanes shift(largest[i] == kHidden ? 0 : largest[i]);
    Lanes total(Real{0});
    for (Index j = 0; j < tile.width(); j += kLanes) {
      Real* at = rows + i * kKeys + j;
      const Lanes weight = xsimd::exp(Lanes::load_unaligned(at) - shift);
      weight.store_unaligned(at);
      total += weight;
    }
    totals[i] = totals[i] * factors[i] + sum_of(total);
  }
}

/// Divides by the sums. The first rows, which see nothing, become zeros.
void finish(Real* output, Index stride, Real* largest, Real* factors, Index first, AttentionSizes s) {
  for (Index i = 0; i < s.length; ++i) {
    Real* row = output + i * stride;
    if (i < first) {
      std::fill_n(row, s.head_width, Real{0});
      largest[i] = 0;
      factors[i] = 0;
      continue;
    }
    factors[i] = 1 / factors[i];
    scale_row(row, factors[i], s.head_width);
  }
}

/// Makes a sink's rows ready to be added to.
void clear(Sink rows, Index stride, Index count, Index n) {
  if (rows.keep != 0) return;
  for (Index i = 0; i < count; ++i) std::fill_n(rows.data + i * stride, n, Real{0});
}

/// weight = exp(score - largest) * factor, and dscore = weight * (dweight - mean), in place of scores and
/// dweights. mean is the row's sum of weight * dweight.
void weigh_again(Real* scores, Real* dweights, const Real* largest, const Real* factors, const Real* means,
                 const Tile& tile) {
  for (Index i = 0; i < tile.queries; ++i) {
    const Lanes shift(largest[i]), factor(factors[i]), mean(means[i]);
    for (Index j = 0; j < tile.width(); j += kLanes) {
      Real* score = scores + i * kKeys + j;
      Real* dweight = dweights + i * kKeys + j;
      const Lanes weight = xsimd::exp(Lanes::load_unaligned(score) - shift) * factor;
      const Lanes dscore = weight * (Lanes::load_unaligned(dweight) - mean);
      weight.store_unaligned(score);
      xsimd::select(weight == Lanes(Real{0}), Lanes(Real{0}), dscore).store_unaligned(dweight);
    }
  }
}

}  // namespace

void tiled_attention_forward(Real* output, Real* largest, Real* factors, const Real* queries,
                             const Real* keys, const Real* values, Scoring scoring, Sight sight,
                             AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  const Buffer keys_across = allocate(s.head_width * kKeys);
  const Buffer weights = allocate(kQueries * kKeys);
  std::array<Real, kQueries> rescale;
  for_each_head(s, [&](HeadPlace at) {
    Rule rule(scoring, sight, at, s);
    std::fill_n(largest + at.row, s.length, kHidden);
    std::fill_n(factors + at.row, s.length, Real{0});
    const auto begin = [&](const Tile& tile) {
      rule.begin(tile);
      transpose(keys_across.get(), keys + at.key + tile.key * stride, stride, tile.keys, tile.width(),
                s.head_width);
    };
    for_each_tile(s, sight.causal, begin, [&](const Tile& tile) {
      const Index row = at.row + tile.query;
      Real* out = output + at.query + tile.query * stride;
      gemm(weights.get(), kKeys, {queries + at.query + tile.query * stride, stride},
           {keys_across.get(), kKeys}, tile.queries, tile.width(), s.head_width, scoring.scale, 0,
           tile.if_diagonal(Triangle::lower_c));
      rule.apply(weights.get(), tile);
      fold(weights.get(), rescale.data(), largest + row, factors + row, tile);
      for (Index i = 0; !tile.is_first() && i < tile.queries; ++i)
        if (rescale[static_cast<std::size_t>(i)] != 1)
          scale_row(out + i * stride, rescale[static_cast<std::size_t>(i)], s.head_width);
      gemm(out, stride, {weights.get(), kKeys}, {values + at.key + tile.key * stride, stride}, tile.queries,
           s.head_width, tile.keys, 1, tile.is_first() ? 0 : 1, tile.if_diagonal(Triangle::lower_a));
    });
    finish(output + at.query, stride, largest + at.row, factors + at.row, rule.first_query(s, sight.causal),
           s);
  });
}

void tiled_attention_backward(Sink dqueries, Sink dkeys, Sink dvalues, const Real* doutput,
                              const Real* output, const Real* largest, const Real* factors,
                              const Real* queries, const Real* keys, const Real* values, Scoring scoring,
                              Sight sight, AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  const Index width = s.head_width;
  const Buffer keys_across = allocate(width * kKeys);
  const Buffer values_across = allocate(width * kKeys);
  const Buffer weights = allocate(kQueries * kKeys);
  const Buffer dscores = allocate(kQueries * kKeys);
  const Buffer means = allocate(s.length);
  for_each_head(s, [&](HeadPlace at) {
    Rule rule(scoring, sight, at, s);
    for (Index i = 0; i < s.length; ++i) {
      const Index row = at.query + i * stride;
      Lanes along(Real{0});
      for_each_lanes(width, [&](Index d, Index lanes) {
        along += load(output + row + d, lanes) * load(doutput + row + d, lanes);
      });
      means.get()[i] = sum_of(along);
    }
    const auto begin = [&](const Tile& tile) {
      rule.begin(tile);
      const Index key = at.key + tile.key * stride;
      transpose(keys_across.get(), keys + key, stride, tile.keys, tile.width(), width);
      transpose(values_across.get(), values + key, stride, tile.keys, tile.width(), width);
      if (dkeys) clear(dkeys + key, stride, tile.keys, width);
      if (dvalues) clear(dvalues + key, stride, tile.keys, width);
    };
    for_each_tile(s, sight.causal, begin, [&](const Tile& tile) {
      const Index query = at.query + tile.query * stride;
      const Index key = at.key + tile.key * stride;
      const Triangle lower_c = tile.if_diagonal(Triangle::lower_c);
      const Triangle upper_a = tile.if_diagonal(Triangle::upper_a);
      // scores = scale * q kᵀ and what the rule adds; dweights = doutput * vᵀ
      gemm(weights.get(), kKeys, {queries + query, stride}, {keys_across.get(), kKeys}, tile.queries,
           tile.width(), width, scoring.scale, 0, lower_c);
      rule.apply(weights.get(), tile);
      gemm(dscores.get(), kKeys, {doutput + query, stride}, {values_across.get(), kKeys}, tile.queries,
           tile.width(), width, 1, 0, lower_c);
      weigh_again(weights.get(), dscores.get(), largest + at.row + tile.query, factors + at.row + tile.query,
                  means.get() + tile.query, tile);
      if (dqueries)
        gemm(dqueries.data + query, stride, {dscores.get(), kKeys}, {keys + key, stride}, tile.queries, width,
             tile.keys, scoring.scale, tile.is_first() ? dqueries.keep : 1,
             tile.if_diagonal(Triangle::lower_a));
      if (dkeys)
        gemm(dkeys.data + key, stride, {dscores.get(), kKeys, true}, {queries + query, stride}, tile.keys,
             width, tile.queries, scoring.scale, 1, upper_a);
      if (dvalues)
        gemm(dvalues.data + key, stride, {weights.get(), kKeys, true}, {doutput + query, stride}, tile.keys,
             width, tile.queries, 1, 1, upper_a);
    });
  });
}

}  // namespace tapehead::kernels
