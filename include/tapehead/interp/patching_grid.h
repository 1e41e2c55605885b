/// What is patched, place by place, and where the change is sent: a question to patching.h, and its words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/nn/site.h"

namespace tapehead {

/// What is patched at a time: a layer whole, one head at all positions, one position of a layer (all heads),
/// or one head at one position.
enum class PatchBy { layer, head, position, head_position };

/// Where a change is sent, instead of everywhere.
struct Receiver {
  std::string name = {};         ///< as parse_receiver reads it; empty for everywhere
  std::vector<Site> sites = {};  ///< queries, keys or values of one head, or the logits

  bool is_everywhere() const { return sites.empty(); }
};

/// A receiver from "L.H" (queries, keys and values of head H of layer L), "L.H.queries", "L.H.keys",
/// "L.H.values" or "logits". Throws UsageError for other text and for a head that the model does not have.
Receiver parse_receiver(const std::string& text, const ModelConfig& config);

/// The names of what can be patched, "head_output" and so on, and its kind of site. "residual" is the stream
/// before every layer and the final one, which is read out; its kind here is residual_before. Throws
/// UsageError, with the nearest name, for another.
SiteKind parse_patch_site(const std::string& name);
std::string_view patch_site_name(SiteKind kind);
/// "layer", "head", "position" or "head-position". Throws UsageError, with the nearest name, for another.
PatchBy parse_patch_by(const std::string& name);
std::string_view patch_by_name(PatchBy by);

/// One grid of patches.
struct PatchingGrid {
  SiteKind site = SiteKind::head_output;
  PatchBy by = PatchBy::head;
  Receiver to = {};
  std::optional<Index> layer = {};  ///< this one alone
};

/// Whether the grid takes heads, or positions, one at a time.
bool is_by_head(const PatchingGrid& grid);
bool is_by_position(const PatchingGrid& grid);

/// The block that a run begins with to come by a place: its layer, or one past the last.
Index block_of(const Site& place, const ModelConfig& config);

/// The places of a grid from below, all heads of each; those below its receiver alone. Throws UsageError for
/// heads where there are none, a layer that is not there, and where no place is left.
std::vector<Site> sites_of(const PatchingGrid& grid, const ModelConfig& config);

/// The most heads of a model that are patched at every position without being asked for.
inline constexpr Index kFewHeads = 16;

/// A set of grids that shows where the answer comes from: head_output by head, then by head and position (by
/// position in a model of more than kFewHeads heads in all), and residual by position.
std::vector<PatchingGrid> usual_grids(const ModelConfig& config);

}  // namespace tapehead
