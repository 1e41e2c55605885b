#include "tapehead/nn/site.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "tapehead/base/nearest.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// One row a kind: its name, and what it belongs to.
struct Row {
  SiteKind kind;
  std::string_view name;
  bool in_block;
  bool has_heads;
};

constexpr std::array<Row, 12> kTable{{
    {SiteKind::embedding, "embedding", false, false},
    {SiteKind::residual_before, "residual_before", true, false},
    {SiteKind::queries, "attention.queries", true, true},
    {SiteKind::keys, "attention.keys", true, true},
    {SiteKind::values, "attention.values", true, true},
    {SiteKind::pattern, "attention.pattern", true, true},
    {SiteKind::head_output, "attention.head_output", true, true},
    {SiteKind::attention_output, "attention.output", true, false},
    {SiteKind::feed_forward_output, "feed_forward.output", true, false},
    {SiteKind::residual_after, "residual_after", true, false},
    {SiteKind::final_residual, "final_residual", false, false},
    {SiteKind::logits, "logits", false, false},
}};

const Row& row_of(SiteKind kind) { return kTable[static_cast<std::size_t>(kind)]; }

/// Reads a whole number at the front of `text` and drops it.
bool take_number(std::string_view& text, Index& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool read_site(std::string_view text, Site& site) {
  constexpr std::string_view kBlocks = "blocks.";
  site = {};
  const bool in_block = text.starts_with(kBlocks);
  if (in_block) {
    text.remove_prefix(kBlocks.size());
    if (!take_number(text, site.layer) || !text.starts_with('.')) return false;
    text.remove_prefix(1);
  }
  for (const Row& row : kTable) {
    if (row.in_block != in_block || !text.starts_with(row.name)) continue;
    std::string_view rest = text.substr(row.name.size());
    site.kind = row.kind;
    if (rest.empty()) return true;
    if (!row.has_heads || !rest.starts_with('[')) continue;
    rest.remove_prefix(1);
    return take_number(rest, site.head) && rest == "]";
  }
  return false;
}

}  // namespace

Site embedding_site() { return {SiteKind::embedding, kNoLayer, kAllHeads}; }
Site residual_before(Index layer) { return {SiteKind::residual_before, layer, kAllHeads}; }
Site queries(Index layer, Index head) { return {SiteKind::queries, layer, head}; }
Site keys(Index layer, Index head) { return {SiteKind::keys, layer, head}; }
Site values(Index layer, Index head) { return {SiteKind::values, layer, head}; }
Site pattern(Index layer, Index head) { return {SiteKind::pattern, layer, head}; }
Site head_output(Index layer, Index head) { return {SiteKind::head_output, layer, head}; }
Site attention_output(Index layer) { return {SiteKind::attention_output, layer, kAllHeads}; }
Site feed_forward_output(Index layer) { return {SiteKind::feed_forward_output, layer, kAllHeads}; }
Site residual_after(Index layer) { return {SiteKind::residual_after, layer, kAllHeads}; }
Site final_residual() { return {SiteKind::final_residual, kNoLayer, kAllHeads}; }
Site logits_site() { return {SiteKind::logits, kNoLayer, kAllHeads}; }

std::string to_string(const Site& site) {
  const Row& row = row_of(site.kind);
  std::string name = row.in_block ? fmt::format("blocks.{}.{}", site.layer, row.name) : std::string(row.name);
  if (site.head != kAllHeads) name += fmt::format("[{}]", site.head);
  return name;
}

Site parse_site(std::string_view name) {
  Site site;
  if (read_site(name, site)) return site;
  std::vector<std::string> names;
  for (const Row& row : kTable)
    names.push_back(to_string(Site{row.kind, row.in_block ? 0 : kNoLayer, kAllHeads}));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  throw Error(fmt::format("[site] no site {}; the nearest is {}", name, nearest(name, candidates)));
}

bool has_heads(SiteKind kind) { return row_of(kind).has_heads; }

bool holds_patterns(const ModelConfig& config) { return config.attention != AttentionForm::tiled; }

std::vector<Site> sites_of(const ModelConfig& config) {
  std::vector<Site> sites{embedding_site()};
  for (Index layer = 0; layer < config.layers; ++layer)
    for (const Row& row : kTable) {
      const bool absent = (row.kind == SiteKind::feed_forward_output && config.feed_forward == 0) ||
                          (row.kind == SiteKind::pattern && !holds_patterns(config));
      if (row.in_block && !absent) sites.push_back({row.kind, layer, kAllHeads});
    }
  sites.insert(sites.end(), {final_residual(), logits_site()});
  return sites;
}

void require_site(const Site& site, const ModelConfig& config) {
  const std::vector<Site> sites = sites_of(config);
  const Site place{site.kind, site.layer, kAllHeads};
  require(
      site.kind != SiteKind::pattern || holds_patterns(config),
      "[site] {} is never held by the tiled attention of this model; set model.attention to pattern, which "
      "holds it and changes no parameter",
      place);
  if (std::find(sites.begin(), sites.end(), place) == sites.end()) {
    std::string list;
    for (const Site& valid : sites) list += "\n  " + to_string(valid);
    throw Error(fmt::format("[site] this model has no site {}; it has{}", site, list));
  }
  if (site.head == kAllHeads) return;
  require(row_of(site.kind).has_heads, "[site] {} has no heads", place);
  require(site.head >= 0 && site.head < config.heads, "[site] expected a head between 0 and {}, got {}",
          config.heads - 1, site);
}

}  // namespace tapehead
