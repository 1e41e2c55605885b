#include "tapehead/interp/patching_grid.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "tapehead/base/nearest.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr std::array<std::pair<SiteKind, std::string_view>, 7> kSites{{
    {SiteKind::head_output, "head_output"},
    {SiteKind::queries, "queries"},
    {SiteKind::keys, "keys"},
    {SiteKind::values, "values"},
    {SiteKind::pattern, "pattern"},
    {SiteKind::attention_output, "attention_output"},
    {SiteKind::residual_before, "residual"},
}};

constexpr std::array<std::pair<PatchBy, std::string_view>, 4> kWays{{
    {PatchBy::layer, "layer"},
    {PatchBy::head, "head"},
    {PatchBy::position, "position"},
    {PatchBy::head_position, "head-position"},
}};

template <class Table>
auto value_of(const Table& table, const std::string& name, const char* what) {
  std::vector<std::string_view> names;
  std::string list;
  for (const auto& [value, its_name] : table) {
    if (its_name == name) return value;
    names.push_back(its_name);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", its_name);
  }
  throw UsageError(fmt::format("[patching] expected {} ({}), got '{}'; the nearest is {}", what, list, name,
                               nearest(name, names)));
}

template <class Table, class Value>
std::string_view name_of(const Table& table, Value value) {
  for (const auto& [its_value, name] : table)
    if (its_value == value) return name;
  throw InternalError("[patching] a value without a name");
}

/// Reads a number at the front of `text` and drops it.
bool take_number(std::string_view& text, Index& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// Whether a place can reach the receiver: the stream before a block, that block too.
bool is_below(const Site& place, const Receiver& to, const ModelConfig& config) {
  if (to.is_everywhere()) return true;
  const Index receiver = block_of(to.sites.front(), config);
  return receiver == config.layers || block_of(place, config) < receiver ||
         (place.kind == SiteKind::residual_before && place.layer == receiver);
}

void check(const PatchingGrid& grid, const ModelConfig& config) {
  if (config.layers == 0) throw UsageError("[patching] this model has no layers, so nothing to patch");
  if (is_by_head(grid) && !has_heads(grid.site))
    throw UsageError(fmt::format("[patching] {} has no heads: patch it by position or by layer",
                                 patch_site_name(grid.site)));
  const bool is_residual = grid.site == SiteKind::residual_before;
  const Index last = is_residual ? config.layers : config.layers - 1;
  if (grid.layer && (*grid.layer < 0 || *grid.layer > last))
    throw UsageError(fmt::format("[patching] expected a layer from 0 to {}{}, got {}", last,
                                 is_residual ? " (the final residual)" : "", *grid.layer));
}

}  // namespace

Receiver parse_receiver(const std::string& text, const ModelConfig& config) {
  if (text == "logits") return {text, {logits_site()}};
  std::string_view rest = text;
  Index layer = -1;
  Index head = -1;
  bool is_read = take_number(rest, layer) && rest.starts_with('.');
  if (is_read) rest.remove_prefix(1);
  is_read = is_read && take_number(rest, head);
  if (is_read && layer >= 0 && layer < config.layers && head >= 0 && head < config.heads) {
    if (rest.empty()) return {text, {queries(layer, head), keys(layer, head), values(layer, head)}};
    if (rest == ".queries") return {text, {queries(layer, head)}};
    if (rest == ".keys") return {text, {keys(layer, head)}};
    if (rest == ".values") return {text, {values(layer, head)}};
  }
  throw UsageError(
      fmt::format("[patching] expected a receiver LAYER.HEAD, with .queries, .keys or .values after it or "
                  "not, or logits; "
                  "layers from 0 to {}, heads from 0 to {}; got '{}'",
                  config.layers - 1, config.heads - 1, text));
}

SiteKind parse_patch_site(const std::string& name) { return value_of(kSites, name, "a site"); }
std::string_view patch_site_name(SiteKind kind) { return name_of(kSites, kind); }
PatchBy parse_patch_by(const std::string& name) { return value_of(kWays, name, "what to patch at a time"); }
std::string_view patch_by_name(PatchBy by) { return name_of(kWays, by); }

bool is_by_head(const PatchingGrid& grid) {
  return grid.by == PatchBy::head || grid.by == PatchBy::head_position;
}
bool is_by_position(const PatchingGrid& grid) {
  return grid.by == PatchBy::position || grid.by == PatchBy::head_position;
}

Index block_of(const Site& place, const ModelConfig& config) {
  return place.layer == kNoLayer ? config.layers : place.layer;
}

std::vector<Site> sites_of(const PatchingGrid& grid, const ModelConfig& config) {
  check(grid, config);
  std::vector<Site> sites;
  for (Index layer = 0; layer < config.layers; ++layer) sites.push_back({grid.site, layer, kAllHeads});
  if (grid.site == SiteKind::residual_before) sites.push_back(final_residual());
  std::erase_if(sites, [&](const Site& site) {
    return !is_below(site, grid.to, config) || (grid.layer && block_of(site, config) != *grid.layer);
  });
  if (sites.empty())
    throw UsageError(fmt::format("[patching] no {}{} lies below the receiver {}", patch_site_name(grid.site),
                                 grid.layer ? fmt::format(" of layer {}", *grid.layer) : "", grid.to.name));
  return sites;
}

std::vector<PatchingGrid> usual_grids(const ModelConfig& config) {
  const bool are_few = config.layers * config.heads <= kFewHeads;
  return {{.site = SiteKind::head_output, .by = PatchBy::head},
          {.site = SiteKind::head_output, .by = are_few ? PatchBy::head_position : PatchBy::position},
          {.site = SiteKind::residual_before, .by = PatchBy::position}};
}

}  // namespace tapehead
