#include "tapehead/nn/attention_scores.h"

#include <bit>
#include <cmath>
#include <utility>

#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/sinusoids.h"

namespace tapehead {

namespace {

/// A norm of each head's numbers, in place in the row.
Variable of_heads(const RmsNorm& norm, const Pass& pass, const Variable& x, Index heads) {
  const Shape& s = x.shape();
  return reshape(norm(pass, reshape(x, {s[0], s[1], heads, s[2] / heads})), s);
}

}  // namespace

std::vector<Real> alibi_slopes(Index heads) {
  const auto count = static_cast<std::size_t>(heads);
  const auto below = static_cast<double>(std::bit_floor(count));
  std::vector<Real> slopes;
  for (double i = 1; i <= below; ++i) slopes.push_back(static_cast<Real>(std::exp2(-8 * i / below)));
  for (double i = 1; slopes.size() < count; i += 2)
    slopes.push_back(static_cast<Real>(std::exp2(-8 * i / (2 * below))));
  return slopes;
}

ScoringConfig scoring_of(const ModelConfig& config) {
  return {.form = config.scores,
          .scaled = config.scaled_scores,
          .query_key_norm = config.query_key_norm,
          .smeared_keys = config.smeared_keys,
          .positions = config.positions};
}

AttentionScores::AttentionScores(const Scope& scope, Index width, Index heads, Index context,
                                 const ScoringConfig& config)
    : heads_(heads) {
  const Index head_width = width / heads;
  const double root = std::sqrt(static_cast<double>(head_width));
  scale_ = config.scaled ? 1 / root : 1;
  const Start start = Start::normal(1 / root);
  if (config.smeared_keys) smear_ = scope.add("smear", {heads_}, Start::constant(0));
  if (config.form == ScoreForm::bilinear) bilinear_ = scope.add("bilinear", {width, head_width}, start);
  if (config.form == ScoreForm::additive) additive_ = scope.add("additive", {heads_, head_width}, start);
  if (config.query_key_norm) {
    query_norm_.emplace(scope / "query_norm", head_width);
    key_norm_.emplace(scope / "key_norm", head_width);
  }
  if (config.positions == Positions::rotary) {
    require(head_width % 2 == 0,
            "[attention] expected heads of an even width for rotary positions, which turn pairs, got {}",
            head_width);
    require(
        !additive_,
        "[attention] rotary positions act through the product of query and key, which additive scores have "
        "not");
    angles_ = sinusoids(context, head_width);
  }
  if (config.positions == Positions::alibi) slopes_ = alibi_slopes(heads_);
}

AttentionScores::Pair AttentionScores::prepared(const Pass& pass, Variable q, Variable k,
                                                const Mask& visible) const {
  if (smear_) k = smear(k, pass.parameter(*smear_), visible);
  if (bilinear_) q = head_linear(q, pass.parameter(*bilinear_));
  if (query_norm_) q = of_heads(*query_norm_, pass, q, heads_);
  if (key_norm_) k = of_heads(*key_norm_, pass, k, heads_);
  if (angles_.count() > 0) {
    const Index head_width = angles_.shape()[1];
    const Index earlier = k.shape()[1] - q.shape()[1];
    q = rotary(q, constant(angles_.data() + earlier * head_width, {q.shape()[1], head_width}));
    k = rotary(k, constant(angles_.data(), {k.shape()[1], head_width}));
  }
  return {std::move(q), std::move(k)};
}

Scoring AttentionScores::scoring() const { return {.scale = scale_, .slopes = slopes_}; }

Variable AttentionScores::pattern(const Pass& pass, const Variable& queries, const Variable& keys,
                                  const AttentionMask& mask) const {
  const auto [q, k] = prepared(pass, queries, keys, mask.visible);
  if (!additive_) return attention_pattern(q, k, heads_, mask, scoring());
  return attention_weights(additive_scores(q, k, pass.parameter(*additive_), mask.causal), mask, slopes_);
}

Variable AttentionScores::mix(const Pass& pass, const Variable& queries, const Variable& keys,
                              const Variable& values, const AttentionMask& mask) const {
  require(!additive_,
          "[attention] expected a pattern for additive scores: tiled attention has products alone");
  const auto [q, k] = prepared(pass, queries, keys, mask.visible);
  return tiled_attention(q, k, values, heads_, mask, scoring());
}

}  // namespace tapehead
