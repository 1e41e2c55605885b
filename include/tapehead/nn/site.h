/// Named places in a Transformer where its computation can be read or changed from outside.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/nn/model_config.h"

namespace tapehead {

/// What is found there; C is the model's width, H*D the heads side by side, F the feed-forward width.
enum class SiteKind {
  embedding,         ///< (B, T, C) tokens and positions, where the residual stream begins
  residual_before,   ///< (B, T, C) entering a block
  queries,           ///< (B, T, H*D) as projected, before AttentionScores makes anything of them
  keys,              ///< (B, T, H*D) the same
  values,            ///< (B, T, H*D)
  pattern,           ///< (B, H, T, K) attention weights, before dropout; rows are queries, and K is T but for
                     ///< a pass that reads on
  head_output,       ///< (B, T, H*D) pattern times values, before the output projection
  attention_output,  ///< (B, T, C) what attention adds to the residual stream
  feed_forward_output,  ///< (B, T, C) what the feed-forward part adds
  residual_after,       ///< (B, T, C) leaving a block
  final_residual,       ///< (B, T, C) what is read out: after the last block and the final layer norm
  logits,               ///< (B, T, V)
};

inline constexpr Index kNoLayer = -1;
inline constexpr Index kAllHeads = -1;

/// A place: a kind, the layer for those inside a block, and, where wanted, one head of it.
struct Site {
  SiteKind kind = SiteKind::logits;
  Index layer = kNoLayer;
  Index head = kAllHeads;

  friend bool operator==(const Site&, const Site&) = default;
};

// The usual places, in short.
Site embedding_site();
Site residual_before(Index layer);
Site queries(Index layer, Index head = kAllHeads);
Site keys(Index layer, Index head = kAllHeads);
Site values(Index layer, Index head = kAllHeads);
Site pattern(Index layer, Index head = kAllHeads);
Site head_output(Index layer, Index head = kAllHeads);
Site attention_output(Index layer);
Site feed_forward_output(Index layer);
Site residual_after(Index layer);
Site final_residual();
Site logits_site();

/// "blocks.1.attention.head_output", or with a head "blocks.1.attention.head_output[0]".
std::string to_string(const Site& site);

/// The site of that name. Throws Error, with the nearest name, for one that no Transformer has.
Site parse_site(std::string_view name);

/// Whether what is found at such a site belongs to heads.
bool has_heads(SiteKind kind);

/// Whether a model of this config holds attention patterns, so that there is a pattern site.
bool holds_patterns(const ModelConfig& config);

/// Every site of a model of this config, in the order in which a forward pass comes by.
std::vector<Site> sites_of(const ModelConfig& config);

/// Throws Error, listing the valid ones, unless the model has this site (layer, kind and head).
void require_site(const Site& site, const ModelConfig& config);

}  // namespace tapehead

/// A site is handed to a message as it is, so that its text is made only when the message is.
template <>
struct fmt::formatter<tapehead::Site> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  auto format(const tapehead::Site& site, fmt::format_context& context) const {
    const std::string text = tapehead::to_string(site);
    return std::copy(text.begin(), text.end(), context.out());
  }
};
