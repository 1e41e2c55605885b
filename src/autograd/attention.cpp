#include "tapehead/autograd/attention.h"

#include <cmath>
#include <utility>

#include "tapehead/autograd/tape.h"
#include "tapehead/base/require.h"
#include "tapehead/kernels/additive_scores.h"
#include "tapehead/kernels/attention.h"
#include "tapehead/kernels/head_linear.h"
#include "tapehead/kernels/rotary.h"
#include "tapehead/kernels/smear.h"
#include "tapehead/kernels/tiled_attention.h"

namespace tapehead {

namespace {

/// For messages: the shape, or () where nothing was given.
const Shape& shape_of(const Variable& x) {
  static const Shape nothing;
  return x ? x.shape() : nothing;
}

/// Whether queries (B, T, C) and keys (B, K, C) fit, with C divisible by heads and K at least T.
bool fit(const Shape& q, const Shape& k, Index heads) {
  return heads >= 1 && q.rank() == 3 && q[2] > 0 && q[2] % heads == 0 && k.rank() == 3 &&
         k.with(1, q[1]) == q && k[1] >= q[1];
}

kernels::AttentionSizes sizes_of(const Shape& q, const Shape& k, Index heads) {
  return {q[0], q[1], heads, q[2] / heads, k[1] - q[1]};
}

/// Throws Error unless they fit.
kernels::AttentionSizes sizes_of(const Variable& queries, const Variable& keys, Index heads) {
  const Shape& q = shape_of(queries);
  const Shape& k = shape_of(keys);
  require(fit(q, k, heads),
          "[attention] expected queries (B, T, C) and keys (B, K, C) with C divisible by {} heads and K at "
          "least T, got {} and {}",
          heads, q, k);
  return sizes_of(q, k, heads);
}

/// The same with values (B, K, C).
kernels::AttentionSizes sizes_of(const Variable& queries, const Variable& keys, const Variable& values,
                                 Index heads) {
  const Shape& q = shape_of(queries);
  const Shape& k = shape_of(keys);
  require(
      fit(q, k, heads) && shape_of(values) == k,
      "[attention] expected queries (B, T, C), keys and values (B, K, C) with C divisible by {} heads and "
      "K at least T, got {}, {} and {}",
      heads, q, k, shape_of(values));
  return sizes_of(q, k, heads);
}

void check_mask(const Mask& visible, const kernels::AttentionSizes& sizes) {
  require(visible.empty() || (visible.batch() == sizes.batch && visible.length() == sizes.keys()),
          "[attention] expected a padding mask ({}, {}), got ({}, {})", sizes.batch, sizes.keys(),
          visible.batch(), visible.length());
}

void check_slopes(const std::vector<Real>& slopes, Index heads, bool causal) {
  require(slopes.empty() || static_cast<Index>(slopes.size()) == heads,
          "[attention] expected a slope for each of {} heads, got {}", heads, slopes.size());
  require(slopes.empty() || causal, "[attention] slopes need a causal mask: a later key has no distance");
}

const std::uint8_t* data_or_null(const Mask& visible) { return visible.empty() ? nullptr : visible.data(); }

kernels::Sight sight_of(const AttentionMask& mask) { return {mask.causal, data_or_null(mask.visible)}; }

const Real* data_or_null(const std::vector<Real>& slopes) { return slopes.empty() ? nullptr : slopes.data(); }

Real scale_of(const Scoring& scoring, const kernels::AttentionSizes& sizes) {
  return scoring.scale ? static_cast<Real>(*scoring.scale)
                       : 1 / std::sqrt(static_cast<Real>(sizes.head_width));
}

}  // namespace

Variable attention_pattern(const Variable& queries, const Variable& keys, Index heads,
                           const AttentionMask& mask, const Scoring& scoring) {
  const kernels::AttentionSizes sizes = sizes_of(queries, keys, heads);
  check_mask(mask.visible, sizes);
  check_slopes(scoring.slopes, heads, mask.causal);
  const Real scale = scale_of(scoring, sizes);
  Variable p = Variable::result("attention_pattern", {sizes.batch, heads, sizes.length, sizes.keys()},
                                {&queries, &keys});
  kernels::attention_pattern_forward(p.output(), queries.data(), keys.data(),
                                     {scale, data_or_null(scoring.slopes)}, sight_of(mask), sizes);
  record("attention_pattern", p, [queries, keys, p, scale, causal = mask.causal, sizes] {
    const kernels::Sink dqueries = queries.gradient_sink();
    const kernels::Sink dkeys = keys.gradient_sink();
    kernels::attention_pattern_backward(dqueries, dkeys, p.upstream(), p.data(), queries.data(), keys.data(),
                                        scale, causal, sizes);
  });
  return p;
}

Variable attention_mix(const Variable& pattern, const Variable& values) {
  const Shape& p = pattern.shape();
  const Shape& v = values.shape();
  require(
      p.rank() == 4 && v.rank() == 3 && p[0] == v[0] && p[3] == v[1] && p[2] <= p[3] && p[1] > 0 &&
          v[2] % p[1] == 0,
      "[attention] expected pattern (B, H, T, K) and values (B, K, C) with C divisible by H, got {} and {}",
      shape_of(pattern), shape_of(values));
  const kernels::AttentionSizes sizes{v[0], p[2], p[1], v[2] / p[1], p[3] - p[2]};
  Variable z = Variable::result("attention_mix", v.with(1, p[2]), {&pattern, &values});
  std::vector<bool> causal = kernels::causal_heads(pattern.data(), sizes);
  kernels::attention_mix_forward(z.output(), pattern.data(), values.data(), causal, sizes);
  record("attention_mix", z, [pattern, values, z, causal = std::move(causal), sizes] {
    kernels::attention_mix_backward(pattern.gradient_sink(), values.gradient_sink(), z.upstream(),
                                    pattern.data(), values.data(), causal, sizes);
  });
  return z;
}

Variable tiled_attention(const Variable& queries, const Variable& keys, const Variable& values, Index heads,
                         const AttentionMask& mask, const Scoring& scoring) {
  const kernels::AttentionSizes sizes = sizes_of(queries, keys, values, heads);
  check_mask(mask.visible, sizes);
  check_slopes(scoring.slopes, heads, mask.causal);
  const auto run = [scale = scale_of(scoring, sizes), slopes = scoring.slopes, mask,
                    sizes](const auto& kernel) {
    kernel(kernels::Scoring{scale, data_or_null(slopes)}, sight_of(mask), sizes);
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

Variable additive_scores(const Variable& queries, const Variable& keys, const Variable& weight, bool causal) {
  require(weight.shape().rank() == 2 && queries.shape().rank() == 3 &&
              weight.shape().count() == queries.shape()[2],
          "[additive_scores] expected queries (B, T, H*D) and weight (H, D), got {} and {}",
          shape_of(queries), shape_of(weight));
  const Index heads = weight.shape()[0];
  const kernels::AttentionSizes sizes = sizes_of(queries, keys, heads);
  Variable scores = Variable::result("additive_scores", {sizes.batch, heads, sizes.length, sizes.keys()},
                                     {&queries, &keys, &weight});
  kernels::additive_scores_forward(scores.output(), queries.data(), keys.data(), weight.data(), causal,
                                   sizes);
  record("additive_scores", scores, [queries, keys, weight, scores, causal, sizes] {
    Real* dqueries = queries.gradient_sum();
    Real* dkeys = keys.gradient_sum();
    Real* dweight = weight.gradient_sum();
    kernels::additive_scores_backward(dqueries, dkeys, dweight, scores.upstream(), queries.data(),
                                      keys.data(), weight.data(), causal, sizes);
  });
  return scores;
}

Variable attention_weights(const Variable& scores, const AttentionMask& mask,
                           const std::vector<Real>& slopes) {
  const Shape& s = scores.shape();
  require(s.rank() == 4 && s[2] <= s[3], "[attention] expected scores (B, H, T, K) with K at least T, got {}",
          shape_of(scores));
  const kernels::AttentionSizes sizes{s[0], s[2], s[1], 1, s[3] - s[2]};
  check_mask(mask.visible, sizes);
  check_slopes(slopes, s[1], mask.causal);
  Variable p = Variable::result("attention_weights", s, {&scores});
  kernels::attention_weights_forward(p.output(), scores.data(), data_or_null(slopes), sight_of(mask), sizes);
  record("attention_weights", p, [scores, p, sizes] {
    kernels::attention_weights_backward(scores.gradient_sink(), p.upstream(), p.data(), sizes);
  });
  return p;
}

Variable head_linear(const Variable& x, const Variable& weight) {
  const Shape& w = weight.shape();
  require(x.shape().rank() == 3 && w.rank() == 2 && w[0] == x.shape()[2] && w[1] > 0 && w[0] % w[1] == 0,
          "[head_linear] expected x (B, T, H*D) and weight (H*D, D), got {} and {}", shape_of(x),
          shape_of(weight));
  const kernels::HeadLinearSizes sizes{x.shape().rows(), w[0] / w[1], w[1]};
  Variable y = Variable::result("head_linear", x.shape(), {&x, &weight});
  kernels::head_linear_forward(y.output(), x.data(), weight.data(), sizes);
  record("head_linear", y, [x, weight, y, sizes] {
    const kernels::Sink dx = x.gradient_sink();
    const kernels::Sink dweight = weight.gradient_sink();
    kernels::head_linear_backward(dx, dweight, y.upstream(), x.data(), weight.data(), sizes);
  });
  return y;
}

Variable rotary(const Variable& x, const Variable& angles) {
  const Shape& s = x.shape();
  const Shape& a = angles.shape();
  require(s.rank() == 3 && a.rank() == 2 && a[0] == s[1] && a[1] > 0 && a[1] % 2 == 0 && s[2] % a[1] == 0,
          "[rotary] expected x (B, T, H*D) and angles (T, D) with D even, got {} and {}", shape_of(x),
          shape_of(angles));
  require(!angles.is_recorded(), "[rotary] expected angles that are a constant");
  const kernels::RotarySizes sizes{s[0], s[1], s[2] / a[1], a[1]};
  Variable y = Variable::result("rotary", s, {&x});
  kernels::rotary_forward(y.output(), x.data(), angles.data(), sizes);
  record("rotary", y, [x, angles, y, sizes] {
    kernels::rotary_backward(x.gradient_sink(), y.upstream(), angles.data(), sizes);
  });
  return y;
}

Variable smear(const Variable& x, const Variable& gate, const Mask& visible) {
  const Shape& s = x.shape();
  require(s.rank() == 3 && gate.shape().rank() == 1 && gate.shape()[0] > 0 && s[2] % gate.shape()[0] == 0,
          "[smear] expected x (B, K, H*D) and gate (H), got {} and {}", shape_of(x), shape_of(gate));
  const Index heads = gate.shape()[0];
  const kernels::SmearSizes sizes{s[0], s[1], heads, s[2] / heads};
  require(visible.empty() || (visible.batch() == s[0] && visible.length() == s[1]),
          "[smear] expected a padding mask ({}, {}), got ({}, {})", s[0], s[1], visible.batch(),
          visible.length());
  Tensor share = gate.value();
  for (Real& g : share.values()) g = 1 / (1 + std::exp(-g));
  Variable y = Variable::result("smear", s, {&x, &gate});
  kernels::smear_forward(y.output(), x.data(), share.data(), data_or_null(visible), sizes);
  record("smear", y, [x, gate, y, visible, share = std::move(share), sizes] {
    Real* dx = x.gradient_sum();
    Tensor dshare(gate.shape());
    kernels::smear_backward(dx, dshare.data(), y.upstream(), x.data(), share.data(), data_or_null(visible),
                            sizes);
    // share = σ(gate), and σ' = σ (1 - σ)
    if (Real* dgate = gate.gradient_sum(); dgate != nullptr)
      for (Index h = 0; h < dshare.count(); ++h)
        dgate[h] += dshare.data()[h] * share.data()[h] * (1 - share.data()[h]);
  });
  return y;
}

}  // namespace tapehead
