#include "tapehead/autograd/tiled_attention.h"

#include <cmath>
#include <utility>

#include "tapehead/autograd/tape.h"
#include "tapehead/base/require.h"
#include "tapehead/kernels/tiled_attention.h"

namespace tapehead {

namespace {

/// For messages: the shape, or () where nothing was given.
const Shape& shape_of(const Variable& x) {
  static const Shape nothing;
  return x ? x.shape() : nothing;
}

kernels::AttentionSizes checked_sizes(const Variable& queries, const Variable& keys, const Variable& values,
                                      Index heads) {
  const Shape& q = shape_of(queries);
  const Shape& k = shape_of(keys);
  const bool fit = heads >= 1 && q.rank() == 3 && q[2] > 0 && q[2] % heads == 0 && k.rank() == 3 &&
                   k.with(1, q[1]) == q && k[1] >= q[1] && shape_of(values) == k;
  require(
      fit,
      "[attention] expected queries (B, T, C), keys and values (B, K, C) with C divisible by {} heads and "
      "K at least T, got {}, {} and {}",
      heads, q, k, shape_of(values));
  return {q[0], q[1], heads, q[2] / heads, k[1] - q[1]};
}

void check_options(const AttentionMask& mask, const Scoring& scoring, kernels::AttentionSizes sizes) {
  const Mask& visible = mask.visible;
  require(visible.empty() || (visible.batch() == sizes.batch && visible.length() == sizes.keys()),
          "[attention] expected a padding mask ({}, {}), got ({}, {})", sizes.batch, sizes.keys(),
          visible.batch(), visible.length());
  const auto slopes = static_cast<Index>(scoring.slopes.size());
  require(slopes == 0 || slopes == sizes.heads, "[attention] expected a slope for each of {} heads, got {}",
          sizes.heads, slopes);
  require(slopes == 0 || mask.causal, "[attention] slopes need a causal mask: a later key has no distance");
}

}  // namespace

Variable tiled_attention(const Variable& queries, const Variable& keys, const Variable& values, Index heads,
                         const AttentionMask& mask, const Scoring& scoring) {
  const kernels::AttentionSizes sizes = checked_sizes(queries, keys, values, heads);
  check_options(mask, scoring, sizes);
  const Real scale = scoring.scale == 0 ? 1 / std::sqrt(static_cast<Real>(sizes.head_width))
                                        : static_cast<Real>(scoring.scale);
  const auto run = [scale, slopes = scoring.slopes, mask, sizes](const auto& kernel) {
    kernel(kernels::Scoring{scale, slopes.empty() ? nullptr : slopes.data()},
           kernels::Sight{mask.causal, mask.visible.empty() ? nullptr : mask.visible.data()}, sizes);
  };
  Variable z = Variable::result("tiled_attention", queries.shape(), {&queries, &keys, &values});
  Tensor largest = Tensor::uninitialised({sizes.batch, heads, sizes.length});
  Tensor factors = Tensor::uninitialised(largest.shape());
  run([&](const auto&... how) {
    kernels::tiled_attention_forward(z.output(), largest.data(), factors.data(), queries.data(), keys.data(),
                                     values.data(), how...);
  });
  record("tiled_attention", z,
         [queries, keys, values, z, largest = std::move(largest), factors = std::move(factors), run] {
           const kernels::Sink dqueries = queries.gradient_sink();
           const kernels::Sink dkeys = keys.gradient_sink();
           const kernels::Sink dvalues = values.gradient_sink();
           run([&](const auto&... how) {
             kernels::tiled_attention_backward(dqueries, dkeys, dvalues, z.upstream(), z.data(),
                                               largest.data(), factors.data(), queries.data(), keys.data(),
                                               values.data(), how...);
           });
         });
  return z;
}

}  // namespace tapehead
