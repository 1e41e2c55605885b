#include "support/attention.h"

#include <cmath>

#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/matmul.h"

namespace tapehead::testing {

namespace {

/// (B, T, H*D) to (B, H, T, D).
Variable split_heads(const Variable& x, Index heads) {
  const Shape& s = x.shape();
  return transpose(reshape(x, {s[0], s[1], heads, s[2] / heads}), 1, 2);
}

}  // namespace

Variable pattern_definition(const Variable& q, const Variable& k, Index heads, const AttentionMask& mask,
                            const Scoring& scoring) {
  const Index length = q.shape()[1], keys = k.shape()[1], batch = q.shape()[0];
  const Shape shape{batch, heads, length, keys};
  Tensor allowed(shape), slopes(shape);
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < length; ++i)
        for (Index j = 0; j < keys; ++j) {
          const Index distance = keys - length + i - j;
          allowed(b, h, i, j) =
              (!mask.causal || distance >= 0) && (mask.visible.empty() || mask.visible(b, j) != 0) ? 1 : 0;
          if (!scoring.slopes.empty() && distance >= 0)
            slopes(b, h, i, j) = -scoring.slopes[static_cast<std::size_t>(h)] * static_cast<Real>(distance);
        }
  const double head_width = static_cast<double>(q.shape()[2] / heads);
  const auto factor = static_cast<Real>(scoring.scale.value_or(1 / std::sqrt(head_width)));
  const Variable products =
      scale(matmul(split_heads(q, heads), transpose(split_heads(k, heads), 2, 3)), factor);
  const Variable weights = exp(products + Variable(slopes)) * Variable(allowed);
  const Variable nothing_seen(Tensor({1}, {Real(1e-30)}));
  return weights / (sum(weights, -1) + nothing_seen);
}

Variable mix_definition(const Variable& pattern, const Variable& values) {
  const Variable z = matmul(pattern, split_heads(values, pattern.shape()[1]));
  return reshape(transpose(z, 1, 2), values.shape().with(1, pattern.shape()[2]));
}

}  // namespace tapehead::testing
