#include "tapehead/kernels/attention.h"

#include <algorithm>

#include "tapehead/kernels/attention_heads.h"
#include "tapehead/kernels/lanes.h"
#include "tapehead/kernels/softmax.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/tensor/memory.h"

namespace tapehead::kernels {

namespace {

/// Only a square pattern has a triangle that may be skipped.
Triangle if_causal(bool causal, Triangle triangle, AttentionSizes s) {
  return causal && s.earlier == 0 ? triangle : Triangle::none;
}

/// Whether no query of a head has a weight on a later key.
bool is_causal(const Real* pattern, Index length) {
  for (Index i = 0; i < length; ++i) {
    const Real* row = pattern + i * length;
    Lanes ahead(Real{0});
    const Index start = (i + 1) / kLanes * kLanes;
    for_each_lanes(length - start, [&](Index j, Index lanes) {
      Lanes weights = load(row + start + j, lanes);
      if (start + j <= i)
        weights =
            xsimd::select(lane_numbers() > Lanes(static_cast<Real>(i - start - j)), weights, Lanes(Real{0}));
      ahead = ahead + xsimd::abs(weights);
    });
    if (!xsimd::all(ahead == Lanes(Real{0}))) return false;
  }
  return true;
}

/// `seen` rounded up to whole vectors, but at most `length`: lanes cost nothing, and part of a vector does.
Index whole_lanes(Index seen, Index length) {
  return std::min(length, (seen + kLanes - 1) / kLanes * kLanes);
}

/// Hides all scores but the first `seen` in the vector where those end, and returns where that vector ends.
Index hide_ahead(Real* row, Index seen, Index length) {
  const Index end = whole_lanes(seen, length);
  const Index start = seen / kLanes * kLanes;
  if (start == end) return end;
  const Index lanes = end - start;
  const Lanes places = lane_numbers();
  const Lanes scores = load(row + start, lanes);
  store(row + start,
        xsimd::select(places < Lanes(static_cast<Real>(seen - start)), scores, Lanes(kHiddenScore)), lanes);
  return end;
}

/// Turns one row of scores into weights over the keys that may be seen: the first `seen`, of which `visible`,
/// unless null, says 1. Hidden scores become -infinity, and so weight 0.
void weigh(Real* row, Index seen, Index length, const std::uint8_t* visible) {
  const Index end = hide_ahead(row, seen, length);
  for_each_lanes(length - end, [&](Index j, Index lanes) { store(row + end + j, Lanes(Real{0}), lanes); });
  if (visible != nullptr) {
    bool any = false;
    for (Index j = 0; j < seen; ++j) {
      any = any || visible[j] != 0;
      if (visible[j] == 0) row[j] = kHiddenScore;
    }
    if (!any) {
      std::fill_n(row, end, Real{0});
      return;
    }
  }
  softmax_row(row, row, end);
}

/// Takes slope * distance off the scores of the keys before position `query`; of those after it, whose
/// distance is below 0, nothing is wanted.
void lower_by_distance(Real* row, Real slope, Index query, Index keys) {
  for (Index j = 0; j < std::min(query, keys); ++j) row[j] -= slope * static_cast<Real>(query - j);
}

/// Turns all scores of one head of one sequence into weights, in place.
void weigh_head(Real* scores, const Real* slopes, Sight sight, HeadPlace at, AttentionSizes s) {
  const std::uint8_t* visible = sight.visible == nullptr ? nullptr : sight.visible + at.sequence * s.keys();
  for (Index i = 0; i < s.length; ++i) {
    Real* row = scores + i * s.keys();
    if (slopes != nullptr) lower_by_distance(row, slopes[at.head], s.earlier + i, s.keys());
    weigh(row, sight.causal ? s.earlier + i + 1 : s.keys(), s.keys(), visible);
  }
}

}  // namespace

void attention_pattern_forward(Real* pattern, const Real* queries, const Real* keys, Scoring scoring,
                               Sight sight, AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  for_each_head(s, [&](HeadPlace at) {
    Real* p = pattern + at.row * s.keys();
    gemm(p, s.keys(), {queries + at.query, stride}, {keys + at.key, stride, true}, s.length, s.keys(),
         s.head_width, scoring.scale, 0, if_causal(sight.causal, Triangle::lower_c, s));
    weigh_head(p, scoring.slopes, sight, at, s);
  });
}

void attention_pattern_backward(Sink dqueries, Sink dkeys, const Real* dpattern, const Real* pattern,
                                const Real* queries, const Real* keys, Real scale, bool causal,
                                AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  const Buffer dscores = allocate(s.length * s.keys());
  if (causal) std::fill_n(dscores.get(), s.length * s.keys(), Real{0});
  for_each_head(s, [&](HeadPlace at) {
    const Real* weights = pattern + at.row * s.keys();
    const Real* dweights = dpattern + at.row * s.keys();
    // pattern = softmax(scores), row by row; hidden keys have weight 0 and so get 0
    for (Index i = 0; i < s.length; ++i) {
      const Index row = i * s.keys();
      softmax_row_backward({dscores.get() + row, 0}, dweights + row, weights + row,
                           causal ? whole_lanes(s.earlier + i + 1, s.keys()) : s.keys());
    }
    // scores = scale q kᵀ
    if (dqueries)
      gemm(dqueries.data + at.query, stride, {dscores.get(), s.keys()}, {keys + at.key, stride}, s.length,
           s.head_width, s.keys(), scale, dqueries.keep, if_causal(causal, Triangle::lower_a, s));
    if (dkeys)
      gemm(dkeys.data + at.key, stride, {dscores.get(), s.keys(), true}, {queries + at.query, stride},
           s.keys(), s.head_width, s.length, scale, dkeys.keep, if_causal(causal, Triangle::upper_a, s));
  });
}

void attention_weights_forward(Real* weights, const Real* scores, const Real* slopes, Sight sight,
                               AttentionSizes s) {
  std::copy_n(scores, s.batch * s.heads * s.length * s.keys(), weights);
  for_each_head(s, [&](HeadPlace at) { weigh_head(weights + at.row * s.keys(), slopes, sight, at, s); });
}

void attention_weights_backward(Sink dscores, const Real* dweights, const Real* weights, AttentionSizes s) {
  for (Index row = 0; row < s.batch * s.heads * s.length; ++row)
    softmax_row_backward(dscores + row * s.keys(), dweights + row * s.keys(), weights + row * s.keys(),
                         s.keys());
}

std::vector<bool> causal_heads(const Real* pattern, AttentionSizes s) {
  std::vector<bool> causal;
  for_each_head(s, [&](HeadPlace at) {
    causal.push_back(s.earlier == 0 && is_causal(pattern + at.row * s.keys(), s.length));
  });
  return causal;
}

void attention_mix_forward(Real* output, const Real* pattern, const Real* values,
                           const std::vector<bool>& causal, AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  for_each_head(s, [&](HeadPlace at) {
    gemm(output + at.query, stride, {pattern + at.row * s.keys(), s.keys()}, {values + at.key, stride},
         s.length, s.head_width, s.keys(), 1, 0,
         if_causal(causal[static_cast<std::size_t>(at.number)], Triangle::lower_a, s));
  });
}

void attention_mix_backward(Sink dpattern, Sink dvalues, const Real* doutput, const Real* pattern,
                            const Real* values, const std::vector<bool>& causal, AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  for_each_head(s, [&](HeadPlace at) {
    // output = pattern * values
    if (dpattern)
      gemm(dpattern.data + at.row * s.keys(), s.keys(), {doutput + at.query, stride},
           {values + at.key, stride, true}, s.length, s.keys(), s.head_width, 1, dpattern.keep);
    if (dvalues)
      gemm(dvalues.data + at.key, stride, {pattern + at.row * s.keys(), s.keys(), true},
           {doutput + at.query, stride}, s.keys(), s.head_width, s.length, 1, dvalues.keep,
           if_causal(causal[static_cast<std::size_t>(at.number)], Triangle::upper_a, s));
  });
}

}  // namespace tapehead::kernels
