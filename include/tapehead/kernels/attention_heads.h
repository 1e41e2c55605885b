/// Where each head of each sequence lies in the arrays of attention. Included by the sources of kernels only.
#pragma once

#include <limits>

#include "tapehead/kernels/attention.h"

namespace tapehead::kernels {

/// What a key that is not to be seen has for a score.
inline constexpr Real kHiddenScore = -std::numeric_limits<Real>::infinity();

/// One head of one sequence.
struct HeadPlace {
  Index number;  ///< of all B*H
  Index sequence;
  Index head;
  Index query;  ///< where it begins in a (B, T, H*D) array,
  Index key;    ///< in a (B, K, H*D) array,
  Index row;    ///< and in a (B, H, T) array
};

template <class F>
void for_each_head(AttentionSizes s, const F& f) {
  const Index width = s.heads * s.head_width;
  for (Index b = 0; b < s.batch; ++b)
    for (Index h = 0; h < s.heads; ++h) {
      const Index number = b * s.heads + h;
      f(HeadPlace{number, b, h, b * s.length * width + h * s.head_width,
                  b * s.keys() * width + h * s.head_width, number * s.length});
    }
}

}  // namespace tapehead::kernels
