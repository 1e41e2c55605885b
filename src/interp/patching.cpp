#include "tapehead/interp/patching.h"

#include <algorithm>

#include "tapehead/base/require.h"
#include "tapehead/nn/edits.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

/// In nats: effects would be shares of next to nothing.
constexpr double kLeastDifference = 0.05;

std::vector<double> column(const Tensor& table, Index position, double factor) {
  std::vector<double> values;
  for (Index b = 0; b < table.shape()[0]; ++b)
    values.push_back(factor * static_cast<double>(table(b, position)));
  return values;
}

/// m of every sequence: the log-probability of the target at the query.
std::vector<double> metric(const Evaluation& evaluation, Index query) {
  return column(evaluation.losses, query, -1);
}

/// All places of a grid, in order, without effects.
std::vector<Patch> places_of(const PatchingGrid& grid, const ModelConfig& config, Index query) {
  const bool heads = is_by_head(grid);
  const bool positions = is_by_position(grid);
  std::vector<Patch> places;
  for (Site site : sites_of(grid, config))
    for (Index head = 0; head < (heads ? config.heads : 1); ++head)
      for (Index position = 0; position < (positions ? query + 1 : 1); ++position) {
        site.head = heads ? head : kAllHeads;
        places.push_back({.site = site, .position = positions ? position : kAllPositions});
      }
  return places;
}

/// Throws UsageError if the activations at these sites fill more than half of the memory.
void require_fit(std::vector<Site> sites, const std::vector<Site>& others, const ModelConfig& config,
                 const Batch& batch) {
  sites.insert(sites.end(), others.begin(), others.end());
  const double bytes = static_cast<double>(recorded_numbers(sites, config, batch.length())) * sizeof(Real) *
                       static_cast<double>(batch.size());
  if (bytes > physical_memory() / 2)
    throw UsageError(
        fmt::format("[patching] expected sequences whose activations fit in half of this machine's {:.3g} GB "
                    "of memory, got {}, which take {:.3g} GB",
                    physical_memory() / 1e9, batch.size(), bytes / 1e9));
}

/// The two plain runs, and what is needed of them to patch one into the other.
class Patcher {
 public:
  Patcher(const Transformer& model, const PatchingPairs& pairs, const PatchingGrid& grid,
          const EvaluateOptions& options)
      : model_(model),
        layers_(model.config().layers),
        corrupted_batch_(pairs.corrupted_batch()),
        to_(grid.to),
        options_(options),
        clean_values_(sites_of(grid, model.config())),
        corrupted_values_(kept(grid.to, model.config())) {
    require_fit(sites_of(grid, model.config()), kept(grid.to, model.config()), model.config(), pairs.clean);
    clean = evaluate(model, pairs.clean, {clean_values_}, options);
    corrupted = evaluate(model, corrupted_batch_, {corrupted_values_}, options);
  }

  /// The corrupted run with one place as in the clean one.
  Evaluation patched(const Patch& place) {
    Edits edits;
    const Tensor values = clean_values_.at({place.site.kind, place.site.layer, kAllHeads});
    if (place.position == kAllPositions)
      edits.put(place.site, values);
    else
      edits.put(place.site, values, {place.position});
    const Index start = block_of(place.site, model_.config());
    if (to_.is_everywhere()) return run_from(start, {edits});
    const Index receiver = block_of(to_.sites.front(), model_.config());
    hold_between(place.site, receiver, edits);
    if (receiver == layers_) return run_from(start, {edits});
    std::vector<Site> whole = to_.sites;
    for (Site& site : whole) site.head = kAllHeads;
    Recorder received(whole);
    run_from(start, {edits, received});
    Edits second;
    for (std::size_t i = 0; i < whole.size(); ++i) second.put(to_.sites[i], received.at(whole[i]));
    return run_from(receiver, {second});
  }

  Evaluation clean;
  Evaluation corrupted;

 private:
  /// What of the corrupted run is begun with, and, on the way to a receiver, put back.
  static std::vector<Site> kept(const Receiver& to, const ModelConfig& config) {
    std::vector<Site> sites{residual_after(config.layers - 1)};
    for (Index layer = 0; layer < config.layers; ++layer) {
      sites.push_back(residual_before(layer));
      if (to.is_everywhere()) continue;
      sites.push_back(attention_output(layer));
      if (config.feed_forward > 0) sites.push_back(feed_forward_output(layer));
    }
    return sites;
  }

  Evaluation run_from(Index block, const Watch& watch) {
    const Site entering = block == layers_ ? residual_after(block - 1) : residual_before(block);
    return evaluate_from(model_, corrupted_batch_, block, corrupted_values_.at(entering), watch, options_);
  }

  /// Keeps all that is written to the stream after the place and before block `receiver` as it was.
  void hold_between(const Site& place, Index receiver, Edits& edits) const {
    const Index first = block_of(place, model_.config());
    for (Index layer = first; layer < receiver; ++layer) {
      const bool writes_after = layer > first || place.kind == SiteKind::residual_before;
      const Site attention = attention_output(layer);
      if (writes_after) edits.put(attention, corrupted_values_.at(attention));
      const Site feed_forward = feed_forward_output(layer);
      if (model_.config().feed_forward > 0) edits.put(feed_forward, corrupted_values_.at(feed_forward));
    }
  }

  const Transformer& model_;
  Index layers_;
  Batch corrupted_batch_;
  Receiver to_;
  EvaluateOptions options_;
  Recorder clean_values_;
  Recorder corrupted_values_;
};

}  // namespace

Patching patch(const Transformer& model, const PatchingPairs& pairs, const PatchingGrid& grid,
               const EvaluateOptions& options) {
  Patcher patcher(model, pairs, grid, options);
  const std::vector<double> clean = metric(patcher.clean, pairs.query);
  const std::vector<double> corrupted = metric(patcher.corrupted, pairs.query);
  const std::vector<double> lost = differences(clean, corrupted);
  Patching patching{.grid = grid,
                    .clean = known_mean(clean),
                    .corrupted = known_mean(corrupted),
                    .difference = bootstrap(lost),
                    .accuracy_clean = known_mean(column(patcher.clean.hits, pairs.query, 1)),
                    .accuracy_corrupted = known_mean(column(patcher.corrupted.hits, pairs.query, 1)),
                    .patches = places_of(grid, model.config(), pairs.query)};
  const Estimate& difference = patching.difference;
  require(
      difference.low > 0 && difference.mean >= kLeastDifference,
      "[patching] the right token is hardly likelier at the query of clean sequences than of corrupted ones: "
      "log-probabilities {:.4g} and {:.4g}, a difference of {:.4g} nats with a 95 % interval from {:.4g} to "
      "{:.4g}; unless that is {} nats or more, and its interval above 0, there is nothing to restore, and no "
      "effect is defined",
      patching.clean, patching.corrupted, difference.mean, difference.low, difference.high, kLeastDifference);
  Bootstrap estimate;
  for (Patch& place : patching.patches)
    place.effect = estimate.ratio(differences(metric(patcher.patched(place), pairs.query), corrupted), lost);
  return patching;
}

CsvTable patching_table(const std::vector<Patching>& patchings, const PatchingPairs& pairs, Index step) {
  CsvTable table({"site", "by", "to", "layer", "head", "position", "role", "effect", "low", "high", "clean",
                  "corrupted", "step", "sequences", "sequence", "query", "period"});
  for (const Patching& patching : patchings)
    for (const Patch& patch : patching.patches)
      table.add({std::string(patch_site_name(patching.grid.site)),
                 std::string(patch_by_name(patching.grid.by)), patching.grid.to.name,
                 patch.site.layer == kNoLayer ? "final" : std::to_string(patch.site.layer),
                 patch.site.head == kAllHeads ? "all" : std::to_string(patch.site.head),
                 patch.position == kAllPositions ? "all" : std::to_string(patch.position),
                 std::string(pairs.role_of(patch.position)), csv_cell(patch.effect.mean),
                 csv_cell(patch.effect.low), csv_cell(patch.effect.high), csv_cell(patching.clean),
                 csv_cell(patching.corrupted), std::to_string(step), std::to_string(pairs.clean.size()),
                 pairs.sequence ? std::to_string(*pairs.sequence) : "", std::to_string(pairs.query),
                 std::to_string(pairs.period())});
  return table;
}

std::vector<PatchingGrid> grids_of(const CsvTable& patchings, const ModelConfig& config) {
  std::vector<PatchingGrid> grids;
  std::string last;
  for (Index row = 0; row < patchings.rows(); ++row) {
    const std::string& site = patchings.cell(row, "site");
    const std::string& by = patchings.cell(row, "by");
    const std::string& to = patchings.cell(row, "to");
    const std::string grid = fmt::format("{},{},{}", site, by, to);
    if (grid == last) continue;
    last = grid;
    grids.push_back({.site = parse_patch_site(site),
                     .by = parse_patch_by(by),
                     .to = to.empty() ? Receiver{} : parse_receiver(to, config)});
  }
  return grids;
}

CsvTable with_grids(const CsvTable& earlier, const CsvTable& fresh) {
  if (earlier.rows() == 0 || fresh.rows() == 0 || earlier.columns() != fresh.columns()) return fresh;
  const auto agree = [&](Index row, Index other, std::initializer_list<const char*> columns) {
    return std::ranges::all_of(
        columns, [&](const char* name) { return earlier.cell(row, name) == fresh.cell(other, name); });
  };
  const auto add = [](CsvTable& table, const CsvTable& from, Index row) {
    std::vector<std::string> cells;
    for (const std::string& name : from.columns()) cells.push_back(from.cell(row, name));
    table.add(std::move(cells));
  };
  CsvTable table(fresh.columns());
  for (Index row = 0; row < earlier.rows(); ++row) {
    if (!agree(row, 0, {"step", "sequences", "sequence", "query", "period"})) return fresh;
    bool is_made_anew = false;
    for (Index other = 0; other < fresh.rows(); ++other)
      is_made_anew = is_made_anew || agree(row, other, {"site", "by", "to"});
    if (!is_made_anew) add(table, earlier, row);
  }
  for (Index row = 0; row < fresh.rows(); ++row) add(table, fresh, row);
  return table;
}

}  // namespace tapehead
