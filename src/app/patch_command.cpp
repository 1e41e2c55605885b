#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/commands.h"
#include "tapehead/app/estimate_text.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/patching.h"
#include "tapehead/train/trainer.h"

namespace tapehead::app {

namespace {

/// Positions without a role are printed from this effect on.
constexpr double kWorthPrinting = 0.01;
/// In nats: shares of less than this mean little.
constexpr double kSmallDifference = 0.1;

constexpr const char* kEpilogue =
    "\nWithout --site, --by and --to: head_output by head and by head-position (by position where a model\n"
    "has more than 16 heads), and residual by position.\n"
    "Whole grids are added to the run's table patching.csv, beside others of the same step and sequences;\n"
    "with --layer they are only printed.\n";

struct Patchings {
  std::string run;
  Index step = 0;
  PatchingPairs pairs;
  std::vector<Patching> grids;
};

std::vector<PatchingGrid> grids_of(const Arguments& arguments, const ModelConfig& config) {
  const bool is_usual = !arguments.has("site") && !arguments.has("by") && !arguments.has("to");
  std::vector<PatchingGrid> grids = is_usual ? usual_grids(config) : std::vector{PatchingGrid{}};
  for (PatchingGrid& grid : grids) {
    if (arguments.has("site")) grid.site = parse_patch_site(arguments.text("site"));
    if (!has_heads(grid.site)) grid.by = PatchBy::position;
    if (arguments.has("by")) grid.by = parse_patch_by(arguments.text("by"));
    if (arguments.has("to")) grid.to = parse_receiver(arguments.text("to"), config);
    if (arguments.has("layer")) grid.layer = arguments.number("layer", 0);
    sites_of(grid, config);  // says what is wrong before anything runs
  }
  return grids;
}

Patchings patchings_of(const Arguments& arguments, const std::string& run, const Checkpoint& checkpoint) {
  const Config& config = checkpoint.config;
  const std::vector<PatchingGrid> grids = grids_of(arguments, config.model);
  const std::unique_ptr<Task> task = task_of(checkpoint);
  std::optional<Index> sequence;
  if (arguments.has("sequence")) sequence = arguments.number("sequence", 0);
  const Index count =
      arguments.has("sequences") ? sequences_given(arguments, 2, config.task.length) : kPatchingSequences;
  Patchings result{
      run,
      checkpoint.step,
      patching_pairs(*task, evaluation_batch(config, *task), sequence, count, config.train.evaluation_seed),
      {}};
  for (const PatchingGrid& grid : grids)
    result.grids.push_back(patch(checkpoint.model, result.pairs, grid, {.threads = arguments.threads()}));
  return result;
}

nlohmann::ordered_json json_of_grid(const Patching& patching, const PatchingPairs& pairs) {
  nlohmann::ordered_json grid{{"site", patch_site_name(patching.grid.site)},
                              {"by", patch_by_name(patching.grid.by)},
                              {"to", nullptr},
                              {"clean", patching.clean},
                              {"corrupted", patching.corrupted},
                              {"difference", json_of(patching.difference)},
                              {"accuracy_clean", patching.accuracy_clean},
                              {"accuracy_corrupted", patching.accuracy_corrupted}};
  if (!patching.grid.to.is_everywhere()) grid["to"] = patching.grid.to.name;
  for (const Patch& patch : patching.patches) {
    nlohmann::ordered_json place{{"place", to_string(patch.site)},
                                 {"layer", patch.site.layer},
                                 {"head", patch.site.head},
                                 {"position", patch.position},
                                 {"role", pairs.role_of(patch.position)},
                                 {"effect", json_of(patch.effect)}};
    if (patch.site.layer == kNoLayer) place["layer"] = "final";
    if (patch.site.head == kAllHeads) place["head"] = "all";
    if (patch.position == kAllPositions) place["position"] = "all";
    grid["patches"].push_back(std::move(place));
  }
  return grid;
}

void print_json(const Patchings& result) {
  nlohmann::ordered_json document{
      {"run", result.run},
      {"step", result.step},
      {"metric", "log-probability (nats) of the clean target at the query, mean over sequences"},
      {"effect", "(m_patched - m_corrupted) / (m_clean - m_corrupted): 0 nothing restored, 1 all"},
      {"sequences", result.pairs.clean.size()},
      {"sequence", nullptr},
      {"query", result.pairs.query},
      {"copies", result.pairs.copies},
      {"period", result.pairs.period()}};
  if (result.pairs.sequence) document["sequence"] = *result.pairs.sequence;
  for (const Patching& patching : result.grids)
    document["grids"].push_back(json_of_grid(patching, result.pairs));
  std::cout << json_text(document);
}

/// "layer 0", "0.1" for a head, "final".
std::string place_name(const Site& site) {
  if (site.layer == kNoLayer) return "final";
  return site.head == kAllHeads ? fmt::format("layer {}", site.layer)
                                : fmt::format("layer {} head {}", site.layer, site.head);
}

/// One row a place, with its interval.
void print_list(const Patching& patching) {
  TextTable table({"patched", "effect", "95 % interval"});
  for (const Patch& patch : patching.patches)
    table.add({place_name(patch.site), signed_decimals(patch.effect.mean, 3),
               fmt::format("[{}, {}]", signed_decimals(patch.effect.low, 3),
                           signed_decimals(patch.effect.high, 3))});
  std::cout << table.text();
}

/// One row a position, one column a layer or head.
void print_positions(const Patching& patching, const PatchingPairs& pairs) {
  const auto positions = static_cast<std::size_t>(pairs.query + 1);
  std::vector<std::string> columns{"position", "role"};
  for (std::size_t i = 0; i < patching.patches.size(); i += positions)
    columns.push_back(place_name(patching.patches[i].site));
  TextTable table(columns);
  std::size_t left_out = 0;
  for (std::size_t position = 0; position < positions; ++position) {
    const std::string role(pairs.role_of(static_cast<Index>(position)));
    std::vector<std::string> row{std::to_string(position), role};
    bool is_worth = !role.empty();
    for (std::size_t i = position; i < patching.patches.size(); i += positions) {
      const double effect = patching.patches[i].effect.mean;
      is_worth = is_worth || !(std::abs(effect) < kWorthPrinting);
      row.push_back(signed_decimals(effect, 3));
    }
    if (is_worth)
      table.add(std::move(row));
    else
      ++left_out;
  }
  std::cout << table.text();
  if (left_out > 0)
    std::cout << fmt::format("{} other positions: every effect is below {}\n", left_out, kWorthPrinting);
}

void print_tables(const Patchings& result) {
  const PatchingPairs& pairs = result.pairs;
  const Patching& first = result.grids.front();
  const std::string structure = pairs.sequence
                                    ? fmt::format("sequence {} of the evaluation batch", *pairs.sequence)
                                    : "random tokens, repeated once";
  std::cout << fmt::format(
      "{} at step {}: clean values patched into corrupted runs, {} sequences with the structure of {}:\n"
      "query at position {}, the {} of its token {} back; corrupted: another token in every copy's place\n"
      "m, the mean log-probability (nats) of the right token at the query: clean {} (accuracy {}),\n"
      "corrupted {} (accuracy {}), difference {} [{}, {}]\n"
      "effect = (m_patched - m_corrupted) / (m_clean - m_corrupted): 0 nothing restored, 1 all; what passes\n"
      "several places in turn is restored at each, so effects do not sum to 1\n",
      result.run, result.step, pairs.clean.size(), structure, pairs.query,
      pairs.copies.size() == 1 ? "only copy" : fmt::format("nearest of {} copies", pairs.copies.size()),
      pairs.period(), decimals(first.clean, 3), decimals(first.accuracy_clean, 3),
      decimals(first.corrupted, 3), decimals(first.accuracy_corrupted, 3), decimals(first.difference.mean, 3),
      decimals(first.difference.low, 3), decimals(first.difference.high, 3));
  if (first.difference.mean < kSmallDifference)
    std::cout << "note: the difference is small: this model hardly uses what was corrupted, and effects are "
                 "shares of very little\n";
  for (const Patching& patching : result.grids) {
    std::cout << fmt::format("\n{} by {}", patch_site_name(patching.grid.site),
                             patch_by_name(patching.grid.by));
    if (!patching.grid.to.is_everywhere())
      std::cout << fmt::format(", sent to {} alone, by the direct path", patching.grid.to.name);
    std::cout << "\n\n";
    is_by_position(patching.grid) ? print_positions(patching, pairs) : print_list(patching);
  }
}

/// Throws Error, with a way out, for a table that cannot be read.
void add_to_table(const std::filesystem::path& file, const CsvTable& fresh) {
  CsvTable earlier({});
  try {
    if (std::filesystem::exists(file)) earlier = CsvTable::read(file);
  } catch (const Error& error) {
    throw Error(fmt::format("{}; with it removed, these grids begin another", error.what()));
  }
  with_grids(earlier, fresh).write(file);
}

}  // namespace

int patch_command(const Words& words) {
  Arguments arguments("patch", "What of a clean run restores a corrupted one's answer: activation patching.",
                      "RUN");
  arguments.options()("site",
                      "head_output (default), queries, keys, values, pattern, attention_output or residual",
                      cxxopts::value<std::string>(), "SITE");
  arguments.options()("by", "what to patch at a time: head, position, head-position or layer",
                      cxxopts::value<std::string>(), "WHAT");
  arguments.options()("to",
                      "send the change there alone, by the direct path: LAYER.HEAD, with .queries, .keys or "
                      ".values after it or not, or logits",
                      cxxopts::value<std::string>(), "RECEIVER");
  arguments.options()("layer", "patch this layer alone; the run's table stays as it is",
                      cxxopts::value<std::string>(), "N");
  arguments.options()(
      "sequence",
      "whose structure the sequences have, of the evaluation batch (default: the one with the "
      "fewest copies of its last token)",
      cxxopts::value<std::string>(), "N");
  arguments.options()("sequences",
                      fmt::format("how many sequences to patch (default: {})", kPatchingSequences),
                      cxxopts::value<std::string>(), "N");
  add_step_option(arguments);
  arguments.add_threads();
  arguments.add_json();
  arguments.epilogue(kEpilogue);
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  const Patchings result = patchings_of(arguments, run.path().string(), chosen_checkpoint(arguments, run));
  arguments.flag("json") ? print_json(result) : print_tables(result);
  std::cout.flush();
  if (arguments.has("layer")) return 0;
  add_to_table(run.table_file("patching"), patching_table(result.grids, result.pairs, result.step));
  return 0;
}

}  // namespace tapehead::app
