#include "tapehead/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tapehead/kernels/softmax.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/tensor/memory.h"

namespace tapehead::kernels {

namespace {

/// Where one head of one sequence begins, in a (B, T, H*D) array and in a (B, H, T, T) array.
struct HeadPlace {
  Index sequence;
  Index row;
  Index pattern;
};

template <class F>
void for_each_head(AttentionSizes s, const F& f) {
  for (Index b = 0; b < s.batch; ++b)
    for (Index h = 0; h < s.heads; ++h)
      f(HeadPlace{b, b * s.length * s.heads * s.head_width + h * s.head_width,
                  (b * s.heads + h) * s.length * s.length});
}

Real score_scale(AttentionSizes s) { return 1 / std::sqrt(static_cast<Real>(s.head_width)); }

/// Turns one row of scores into weights over the keys that may be seen.
void weigh(Real* row, Index seen, Index length, const std::uint8_t* visible) {
  std::fill(row + seen, row + length, Real{0});
  if (visible == nullptr) {
    softmax_row(row, row, seen);
    return;
  }
  bool any = false;
  for (Index j = 0; j < seen; ++j) {
    if (visible[j] != 0) {
      any = true;
    } else {
      row[j] = -std::numeric_limits<Real>::infinity();
    }
  }
  if (any) {
    softmax_row(row, row, seen);
  } else {
    std::fill_n(row, seen, Real{0});
  }
}

}  // namespace

void attention_pattern_forward(Real* pattern, const Real* queries, const Real* keys, bool causal,
                               const std::uint8_t* visible, AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  for_each_head(s, [&](HeadPlace at) {
    Real* p = pattern + at.pattern;
    gemm(p, s.length, {queries + at.row, stride}, {keys + at.row, stride, true}, s.length, s.length,
         s.head_width, score_scale(s), 0);
    for (Index i = 0; i < s.length; ++i)
      weigh(p + i * s.length, causal ? i + 1 : s.length, s.length,
            visible == nullptr ? nullptr : visible + at.sequence * s.length);
  });
}

void attention_pattern_backward(Real* dqueries, Real* dkeys, const Real* dpattern, const Real* pattern,
                                const Real* queries, const Real* keys, AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  const Buffer dscores = allocate(s.length * s.length);
  for_each_head(s, [&](HeadPlace at) {
    // pattern = softmax(scores), row by row; hidden keys have weight 0 and so get 0
    std::fill_n(dscores.get(), s.length * s.length, Real{0});
    for (Index i = 0; i < s.length; ++i)
      softmax_row_backward(dscores.get() + i * s.length, dpattern + at.pattern + i * s.length,
                           pattern + at.pattern + i * s.length, s.length);
    // scores = q kᵀ / sqrt(D)
    if (dqueries != nullptr)
      gemm(dqueries + at.row, stride, {dscores.get(), s.length}, {keys + at.row, stride}, s.length,
           s.head_width, s.length, score_scale(s), 1);
    if (dkeys != nullptr)
      gemm(dkeys + at.row, stride, {dscores.get(), s.length, true}, {queries + at.row, stride}, s.length,
           s.head_width, s.length, score_scale(s), 1);
  });
}

void attention_mix_forward(Real* output, const Real* pattern, const Real* values, AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  for_each_head(s, [&](HeadPlace at) {
    gemm(output + at.row, stride, {pattern + at.pattern, s.length}, {values + at.row, stride}, s.length,
         s.head_width, s.length, 1, 0);
  });
}

void attention_mix_backward(Real* dpattern, Real* dvalues, const Real* doutput, const Real* pattern,
                            const Real* values, AttentionSizes s) {
  const Index stride = s.heads * s.head_width;
  for_each_head(s, [&](HeadPlace at) {
    // output = pattern * values
    if (dpattern != nullptr)
      gemm(dpattern + at.pattern, s.length, {doutput + at.row, stride}, {values + at.row, stride, true},
           s.length, s.length, s.head_width, 1, 1);
    if (dvalues != nullptr)
      gemm(dvalues + at.row, stride, {pattern + at.pattern, s.length, true}, {doutput + at.row, stride},
           s.length, s.head_width, s.length, 1, 1);
  });
}

}  // namespace tapehead::kernels
