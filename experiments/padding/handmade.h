/// Attention weights as most would write them by hand, with what is hidden overwritten before the softmax.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/nn/transformer.h"

namespace padding {

using tapehead::Index;
using tapehead::Mask;
using tapehead::Real;
using tapehead::Shape;
using tapehead::Tensor;
using tapehead::Variable;

/// (B, H, T, T), 1 where a query may not look: the key-padding mask (B, T), seen as (B, 1, 1, T), or the
/// causal one.
inline Tensor hidden(const Mask& visible, Index heads) {
  Tensor result(Shape{visible.batch(), heads, visible.length(), visible.length()});
  for (Index b = 0; b < visible.batch(); ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index t = 0; t < visible.length(); ++t)
        for (Index s = 0; s < visible.length(); ++s) result(b, h, t, s) = s > t || visible(b, s) == 0 ? 1 : 0;
  return result;
}

/// The pattern as most would write it: scores, `forbidden` in the place of those that are hidden, softmax.
inline Variable handmade(const Variable& q, const Variable& k, Index heads, const Mask& visible,
                         Real forbidden) {
  const Shape& shape = q.shape();
  const Index width = shape[2] / heads;
  const auto by_head = [&](const Variable& x) {
    return transpose(reshape(x, {shape[0], shape[1], heads, width}), 1, 2);
  };
  const Variable scores = scale(matmul(by_head(q), transpose(by_head(k), 2, 3)),
                                static_cast<Real>(1 / std::sqrt(static_cast<double>(width))));
  Tensor filling(scores.shape());
  filling.fill(forbidden);
  return softmax(where(hidden(visible, heads), Variable(filling), scores));
}

inline constexpr Real kInfinite = -std::numeric_limits<Real>::infinity();
inline constexpr Real kLowest = std::numeric_limits<Real>::lowest();

/// Puts that pattern into every layer of a model.
class Handmade : public tapehead::Watcher {
 public:
  Handmade(Mask visible, Real forbidden) : visible_(std::move(visible)), forbidden_(forbidden) {}
  void check(const tapehead::ModelConfig&) const override {}
  void finish(const std::vector<tapehead::Site>&) const override {}
  Variable visit(const tapehead::Visit& at, const Variable& value) override {
    if (at.site.kind == tapehead::SiteKind::queries) queries_ = value;
    if (at.site.kind == tapehead::SiteKind::keys) keys_ = value;
    if (at.site.kind != tapehead::SiteKind::pattern) return value;
    return handmade(queries_, keys_, at.heads, visible_, forbidden_);
  }

 private:
  Mask visible_;
  Real forbidden_;
  Variable queries_;
  Variable keys_;
};

}  // namespace padding
