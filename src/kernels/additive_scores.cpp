#include "tapehead/kernels/additive_scores.h"

#include <algorithm>

#include "tapehead/kernels/lanes.h"

namespace tapehead::kernels {

namespace {

/// Calls f(place of the score, of the query, of the key, of the head's weight) for every score that counts.
template <class F>
void for_each_score(bool causal, AttentionSizes s, const F& f) {
  const Index width = s.heads * s.head_width;
  for (Index b = 0; b < s.batch; ++b)
    for (Index h = 0; h < s.heads; ++h)
      for (Index i = 0; i < s.length; ++i) {
        const Index row = ((b * s.heads + h) * s.length + i) * s.keys();
        const Index query = (b * s.length + i) * width + h * s.head_width;
        const Index seen = causal ? s.earlier + i + 1 : s.keys();
        for (Index j = 0; j < seen; ++j)
          f(row + j, query, (b * s.keys() + j) * width + h * s.head_width, h * s.head_width);
      }
}

}  // namespace

void additive_scores_forward(Real* scores, const Real* queries, const Real* keys, const Real* weight,
                             bool causal, AttentionSizes s) {
  std::fill_n(scores, s.batch * s.heads * s.length * s.keys(), Real{0});
  for_each_score(causal, s, [&](Index at, Index q, Index k, Index w) {
    Lanes sum(Real{0});
    for_each_lanes(s.head_width, [&](Index d, Index lanes) {
      const Lanes t = xsimd::tanh(load(queries + q + d, lanes) + load(keys + k + d, lanes));
      sum += load(weight + w + d, lanes) * t;
    });
    scores[at] = sum_of(sum);
  });
}

void additive_scores_backward(Real* dqueries, Real* dkeys, Real* dweight, const Real* dscores,
                              const Real* queries, const Real* keys, const Real* weight, bool causal,
                              AttentionSizes s) {
  const auto add = [](Real* to, const Lanes& value, Index lanes) {
    if (to != nullptr) store(to, load(to, lanes) + value, lanes);
  };
  const auto at_place = [](Real* array, Index place) { return array == nullptr ? nullptr : array + place; };
  for_each_score(causal, s, [&](Index at, Index q, Index k, Index w) {
    const Real up = dscores[at];
    if (up == 0) return;
    for_each_lanes(s.head_width, [&](Index d, Index lanes) {
      // score = Σ weight t, t = tanh(q + k)
      const Lanes t = xsimd::tanh(load(queries + q + d, lanes) + load(keys + k + d, lanes));
      const Lanes dsum = up * load(weight + w + d, lanes) * (Real{1} - t * t);
      add(at_place(dqueries, q + d), dsum, lanes);
      add(at_place(dkeys, k + d), dsum, lanes);
      add(at_place(dweight, w + d), up * t, lanes);
    });
  });
}

}  // namespace tapehead::kernels
