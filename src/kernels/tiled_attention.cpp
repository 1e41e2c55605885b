#include "tapehead/kernels/tiled_attention.h"

#include <algorithm>
#include <array>

#include "tapehead/kernels/attention_tiles.h"
#include "tapehead/kernels/lanes.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/tensor/memory.h"

namespace tapehead::kernels {

namespace {

/// Rows of a head, `stride` apart, copied side by side.
void pack_along(Real* to, const Real* rows, Index stride, Index count, Index width) {
  for (Index j = 0; j < count; ++j)
    for_each_lanes(width, [&](Index d, Index lanes) {
      store(to + j * width + d, load(rows + j * stride + d, lanes), lanes);
    });
}

/// The same transposed, as (D, kTileKeys) of every tile; zeros after the last row.
void pack_across(Real* to, const Real* rows, Index stride, Index count, Index width) {
  for (Index j = 0; j < count; j += kLanes)
    for (Index d = 0; d < width; d += kLanes) {
      const Index lanes = std::min(kLanes, width - d);
      Square square;
      for (Index i = 0; i < kLanes; ++i)
        square[static_cast<std::size_t>(i)] =
            j + i < count ? load(rows + (j + i) * stride + d, lanes) : Lanes(Real{0});
      transpose(square);
      Real* corner = to + (j / kTileKeys * width + d) * kTileKeys + j % kTileKeys;
      for (Index i = 0; i < lanes; ++i)
        square[static_cast<std::size_t>(i)].store_unaligned(corner + i * kTileKeys);
    }
}

void scale_row(Real* row, Real factor, Index n) {
  for (Index d = 0; d < n; ++d) row[d] *= factor;
}

/// Folds a tile's scores into the rows' running maxima and sums. Scores become weights that are still to be
/// divided by the sum, and `factors` what each row's earlier output is to be multiplied by.
void fold(Real* scores, Real* factors, Real* largest, Real* totals, const Tile& tile) {
  for (Index i = 0; i < tile.queries; ++i) {
    Lanes peak(kHiddenScore);
    for (Index j = 0; j < tile.keys; j += kLanes)
      peak = xsimd::max(peak, Lanes::load_unaligned(scores + i * kTileKeys + j));
    factors[i] = largest_of(peak);
  }
  for_each_lanes(tile.queries, [&](Index i, Index lanes) {
    const Lanes before = load(largest + i, lanes);
    const Lanes now = xsimd::max(before, load(factors + i, lanes));
    // Where no key was seen yet, any finite number will do.
    const Lanes shift = xsimd::select(now == Lanes(kHiddenScore), Lanes(Real{0}), now);
    store(factors + i, xsimd::exp(before - shift), lanes);
    store(largest + i, now, lanes);
  });
  for (Index i = 0; i < tile.queries; ++i) {
    const Lanes shift(largest[i] == kHiddenScore ? 0 : largest[i]);
    Lanes total(Real{0});
    for (Index j = 0; j < tile.keys; j += kLanes) {
      Real* at = scores + i * kTileKeys + j;
      const Lanes weight = xsimd::exp(Lanes::load_unaligned(at) - shift);
      weight.store_unaligned(at);
      total += weight;
    }
    totals[i] = totals[i] * factors[i] + sum_of(total);
  }
}

/// Divides by the sums, and leaves their inverses. The first rows, which see nothing, become zeros.
void finish(Real* output, Index stride, Real* largest, Real* totals, Index first, AttentionSizes s) {
  for (Index i = 0; i < s.length; ++i) {
    Real* row = output + i * stride;
    if (i < first) {
      std::fill_n(row, s.head_width, Real{0});
      largest[i] = 0;
      totals[i] = 0;
      continue;
    }
    totals[i] = 1 / totals[i];
    scale_row(row, totals[i], s.head_width);
  }
}

/// weight = exp(score - largest) * factor, and dscore = weight * (dweight - mean), in place of scores and
/// dweights, followed by zeros up to `keys`. mean is the row's sum of weight * dweight.
void weigh_again(Real* scores, Real* dweights, const Real* largest, const Real* factors, const Real* means,
                 const Tile& tile, Index keys) {
  const Lanes nothing(Real{0});
  for (Index i = 0; i < tile.queries; ++i) {
    const Lanes shift(largest[i]), factor(factors[i]), mean(means[i]);
    Real* score = scores + i * kTileKeys;
    Real* dweight = dweights + i * kTileKeys;
    Index j = 0;
    for (; j < tile.keys; j += kLanes) {
      const Lanes weight = xsimd::exp(Lanes::load_unaligned(score + j) - shift) * factor;
      const Lanes dscore = weight * (Lanes::load_unaligned(dweight + j) - mean);
      weight.store_unaligned(score + j);
      xsimd::select(weight == nothing, nothing, dscore).store_unaligned(dweight + j);
    }
    for (; j < keys; j += kLanes) {
      nothing.store_unaligned(score + j);
      nothing.store_unaligned(dweight + j);
    }
  }
}

/// The sum of output * doutput of every row of a head, which is that of weight * dweight.
void row_means(Real* means, const Real* output, const Real* doutput, Index stride, AttentionSizes s) {
  for (Index i = 0; i < s.length; ++i) {
    Lanes sum(Real{0});
    for_each_lanes(s.head_width, [&](Index d, Index lanes) {
      sum += load(output + i * stride + d, lanes) * load(doutput + i * stride + d, lanes);
    });
    means[i] = sum_of(sum);
  }
}

/// Puts rows that lie side by side where a sink says.
void put_rows(Sink to, Index stride, const Real* rows, Index count, Index width) {
  for (Index i = 0; i < count; ++i)
    for_each_lanes(width, [&](Index d, Index lanes) {
      put(to + (i * stride + d), load(rows + i * width + d, lanes), lanes);
    });
}

/// What the way back reads, from where one head of one sequence begins.
struct Given {
  const Real* doutput;
  const Real* output;
  const Real* largest;
  const Real* factors;
  const Real* queries;
  const Real* keys;
  const Real* values;

  Given from(HeadPlace at) const {
    return {doutput + at.query, output + at.query, largest + at.row, factors + at.row,
            queries + at.query, keys + at.key,     values + at.key};
  }
};

/// The way back through one head at a time, with the room it takes. A sink's gradients of a block's keys and
/// values are gathered side by side first.
class Backward {
 public:
  Backward(Scoring scoring, Sight sight, AttentionSizes s)
      : scoring_(scoring), sight_(sight), s_(s), stride_(s.heads * s.head_width), width_(s.head_width) {}

  void run(Sink dqueries, Sink dkeys, Sink dvalues, const Given& given, HeadPlace at) {
    ScoreRule rule(scoring_, sight_, at, s_);
    row_means(means_.get(), given.output, given.doutput, stride_, s_);
    const auto begin = [&](Index first, Index count) {
      rule.begin_block(first, count);
      pack_along(keys_along_.get(), given.keys + first * stride_, stride_, count, width_);
      pack_across(keys_across_.get(), given.keys + first * stride_, stride_, count, width_);
      pack_across(values_across_.get(), given.values + first * stride_, stride_, count, width_);
      std::fill_n(dkeys_.get(), count * width_, Real{0});
      std::fill_n(dvalues_.get(), count * width_, Real{0});
    };
    const auto visit = [&](const Tile& tile) {
      for (Index i = 0; i < tile.queries; i += kStripQueries) through_scores(dqueries, given, rule, tile, i);
      // output = weights * values, scores = scale * q kᵀ
      if (dvalues) gather(dvalues_.get(), weights_.get(), given.doutput, 1, tile);
      if (dkeys) gather(dkeys_.get(), dscores_.get(), given.queries, scoring_.scale, tile);
    };
    const auto end = [&](Index first, Index count) {
      if (dkeys) put_rows(dkeys + first * stride_, stride_, dkeys_.get(), count, width_);
      if (dvalues) put_rows(dvalues + first * stride_, stride_, dvalues_.get(), count, width_);
    };
    for_each_tile(s_, sight_.causal, kTileQueries, begin, visit, end);
  }

 private:
  /// Makes the weights again and the gradients of scores and queries, of a strip of the tile's queries.
  void through_scores(Sink dqueries, const Given& given, const ScoreRule& rule, const Tile& tile,
                      Index first) {
    const Tile strip = tile.part(first, std::min(kStripQueries, tile.queries - first));
    const Index query = strip.query * stride_;
    const Index block = strip.offset * width_;
    Real* weights = weights_.get() + first * kTileKeys;
    Real* dscores = dscores_.get() + first * kTileKeys;
    gemm(weights, kTileKeys, {given.queries + query, stride_}, {keys_across_.get() + block, kTileKeys},
         strip.queries, whole_lanes(strip.keys), width_, scoring_.scale, 0);
    gemm(dscores, kTileKeys, {given.doutput + query, stride_}, {values_across_.get() + block, kTileKeys},
         strip.queries, whole_lanes(strip.keys), width_, 1, 0);
    rule.apply(weights, strip);
    weigh_again(weights, dscores, given.largest + strip.query, given.factors + strip.query,
                means_.get() + strip.query, strip, whole_lanes(tile.keys));
    // scores = scale * q kᵀ
    if (dqueries)
      gemm(dqueries.data + query, stride_, {dscores, kTileKeys}, {keys_along_.get() + block, width_},
           strip.queries, width_, strip.keys, scoring_.scale, tile.key == 0 ? dqueries.keep : 1);
  }

  /// sum += scale * tableᵀ * rows, for the keys of a tile and the rows of its queries.
  void gather(Real* sum, const Real* table, const Real* rows, Real scale, const Tile& tile) const {
    gemm(sum + tile.offset * width_, width_, {table, kTileKeys, true}, {rows + tile.query * stride_, stride_},
         tile.keys, width_, tile.queries, scale, 1, tile.seen == 1 ? Triangle::upper_a : Triangle::none);
  }

  Scoring scoring_;
  Sight sight_;
  AttentionSizes s_;
  Index stride_;
  Index width_;
  Buffer keys_along_ = allocate(block_room(s_) * width_);
  Buffer keys_across_ = allocate(block_room(s_) * width_);
  Buffer values_across_ = allocate(block_room(s_) * width_);
  Buffer dkeys_ = allocate(block_room(s_) * width_);
  Buffer dvalues_ = allocate(block_room(s_) * width_);
  Buffer weights_ = allocate(kTileQueries * kTileKeys);
  Buffer dscores_ = allocate(kTileQueries * kTileKeys);
  Buffer means_ = allocate(s_.length);
};

}  // namespace

void tiled_attention_forward(Real* output, Real* largest, Real* factors, const Real* queries,
                             const Real* keys, const Real* values, Scoring scoring, Sight sight,
                             AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  const Index width = s.head_width;
  const Buffer keys_across = allocate(block_room(s) * width);
  const Buffer values_along = allocate(block_room(s) * width);
  const Buffer weights = allocate(kStripQueries * kTileKeys);
  std::array<Real, kStripQueries> rescale;
  for_each_head(s, [&](HeadPlace at) {
    ScoreRule rule(scoring, sight, at, s);
    std::fill_n(largest + at.row, s.length, kHiddenScore);
    std::fill_n(factors + at.row, s.length, Real{0});
    const auto begin = [&](Index first, Index count) {
      rule.begin_block(first, count);
      pack_across(keys_across.get(), keys + at.key + first * stride, stride, count, width);
      pack_along(values_along.get(), values + at.key + first * stride, stride, count, width);
    };
    const auto visit = [&](const Tile& tile) {
      const Index query = at.query + tile.query * stride;
      gemm(weights.get(), kTileKeys, {queries + query, stride},
           {keys_across.get() + tile.offset * width, kTileKeys}, tile.queries, whole_lanes(tile.keys), width,
           scoring.scale, 0);
      rule.apply(weights.get(), tile);
      fold(weights.get(), rescale.data(), largest + at.row + tile.query, factors + at.row + tile.query, tile);
      for (Index i = 0; tile.key > 0 && i < tile.queries; ++i)
        if (const Real factor = rescale[static_cast<std::size_t>(i)]; factor != 1)
          scale_row(output + query + i * stride, factor, width);
      gemm(output + query, stride, {weights.get(), kTileKeys},
           {values_along.get() + tile.offset * width, width}, tile.queries, width, tile.keys, 1,
           tile.key == 0 ? 0 : 1);
    };
    for_each_tile(s, sight.causal, kStripQueries, begin, visit, [](Index, Index) {});
    finish(output + at.query, stride, largest + at.row, factors + at.row, rule.first_query(s, sight.causal),
           s);
  });
}

void tiled_attention_backward(Sink dqueries, Sink dkeys, Sink dvalues, const Real* doutput,
                              const Real* output, const Real* largest, const Real* factors,
                              const Real* queries, const Real* keys, const Real* values, Scoring scoring,
                              Sight sight, AttentionSizes s) {
  const Given given{doutput, output, largest, factors, queries, keys, values};
  const auto from = [](Sink sink, Index offset) { return sink ? sink + offset : sink; };
  Backward backward(scoring, sight, s);
  for_each_head(s, [&](HeadPlace at) {
    backward.run(from(dqueries, at.query), from(dkeys, at.key), from(dvalues, at.key), given.from(at), at);
  });
}

}  // namespace tapehead::kernels
