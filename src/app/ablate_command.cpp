#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>

#include "tapehead/app/ablation_output.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/head_name.h"
#include "tapehead/app/subsets_output.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/ablation.h"
#include "tapehead/interp/subsets.h"

namespace tapehead::app {

namespace {

constexpr const char* kEpilogue = R"(
Without --head, --layer and --feed-forward: every head alone, each layer's heads together, and each layer's
feed-forward output, into the run's table ablation.csv. With them: what they name, taken out together; the table
stays as it is. Kinds, by what an output is replaced by:
)";

constexpr const char* kSubsetsEpilogue = R"(
The reference sequences are independent ones of the same structure, one for each evaluation sequence. --kind all
prints the kinds side by side; ≠ and ± mark where zero, mean and resample disagree.

--subsets ablates every subset of each layer's heads (of --layer alone, if given): Shapley values, pair
interactions, the smallest set whose removal breaks the behaviour (accuracy on induction positions below half of
the way from guessing to the plain one) and the smallest that alone keeps it (at least nine tenths of it). Without
--layer it writes subsets.csv, shapley.csv and interactions.csv.
)";

std::string epilogue() {
  std::string text = kEpilogue;
  for (const AblationDefinition& kind : kAblationKinds)
    text += fmt::format("  {:20}{}\n", kind.name, kind.replacement);
  return text + kSubsetsEpilogue;
}

std::vector<AblationKind> parse_kinds(const Arguments& arguments) {
  const std::string word = arguments.has("kind") ? arguments.text("kind") : "zero";
  std::vector<AblationKind> kinds;
  std::string names;
  for (const AblationDefinition& kind : kAblationKinds) {
    if (word == kind.name || word == "all") kinds.push_back(kind.kind);
    names += std::string(kind.name) + ", ";
  }
  if (kinds.empty()) throw UsageError(fmt::format("--kind: expected {}or all, got '{}'", names, word));
  return kinds;
}

std::vector<Index> parse_layers(const Arguments& arguments, const std::string& option,
                                const ModelConfig& config) {
  std::vector<Index> layers;
  for (const std::string& text : arguments.texts(option)) {
    const bool is_number =
        !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || std::stoll(text) >= config.layers)
      throw UsageError(
          fmt::format("--{}: expected a layer from 0 to {}, got '{}'", option, config.layers - 1, text));
    layers.push_back(std::stoll(text));
  }
  return layers;
}

/// What the options name, to be taken out together; nothing if there are none.
std::vector<Site> named_components(const Arguments& arguments, const ModelConfig& config) {
  std::vector<Site> components;
  for (const std::string& head : arguments.texts("head")) components.push_back(parse_head(head, config));
  for (const Index layer : parse_layers(arguments, "layer", config)) components.push_back(head_output(layer));
  if (arguments.has("feed-forward") && config.feed_forward == 0)
    throw UsageError(
        fmt::format("--feed-forward: this model has no feed-forward parts; it has heads 0 to {} in each of "
                    "layers 0 to {}",
                    config.heads - 1, config.layers - 1));
  for (const Index layer : parse_layers(arguments, "feed-forward", config))
    components.push_back(feed_forward_output(layer));
  for (auto component = components.begin(); component != components.end(); ++component)
    if (std::any_of(components.begin(), component, [&](const Site& other) {
          const bool one_holds_the_other = other.head == kAllHeads || component->head == kAllHeads;
          return other.kind == component->kind && other.layer == component->layer &&
                 (other.head == component->head || one_holds_the_other);
        }))
      throw UsageError(fmt::format("{} was named more than once", component_name(*component)));
  return components;
}

std::string duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} seconds", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} minutes", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} hours", seconds / 3600);
  return fmt::format("{:.3g} days", seconds / 86400);
}

/// Refuses more subsets than somebody may want to wait for.
void require_few_heads(const Arguments& arguments, const LoadedRun& run, double evaluations_a_subset,
                       const EvaluateOptions& options) {
  const Index heads = run.checkpoint.model.config().heads;
  const Index most = arguments.has("most-heads") ? arguments.number("most-heads", 1) : kDefaultMostHeads;
  if (most > kMostSubsetHeads)
    throw UsageError(fmt::format("--most-heads: expected at most {}, got {}", kMostSubsetHeads, most));
  if (heads <= most) return;
  const auto start = std::chrono::steady_clock::now();
  evaluate(run.checkpoint.model, run.batch, {}, options);
  const double one = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double evaluations = evaluations_a_subset * (std::exp2(static_cast<double>(heads)) - 1);
  const std::string advice =
      heads <= kMostSubsetHeads
          ? fmt::format("allow it with --most-heads {}, in less time with one --layer or fewer --sequences",
                        heads)
          : fmt::format("more than {} heads cannot be done", kMostSubsetHeads);
  throw UsageError(fmt::format(
      "--subsets: {} heads a layer are more than {}: they take {} evaluations of {} sequences, "
      "some {} (one takes {:.3f} s); {}",
      heads, most,
      evaluations < 1e15 ? grouped(std::llround(evaluations)) : fmt::format("{:.3g}", evaluations),
      run.batch.size(), duration(evaluations * one), one, advice));
}

void ablate_all_subsets(const Arguments& arguments, const LoadedRun& run, const Batch& reference,
                        const EvaluateOptions& options) {
  const ModelConfig& config = run.checkpoint.model.config();
  for (const char* other : {"head", "feed-forward"})
    if (arguments.has(other))
      throw UsageError(
          fmt::format("--subsets is of all heads of a layer, and cannot be had with --{}", other));
  const std::vector<AblationKind> kinds = parse_kinds(arguments);
  std::vector<Index> layers = parse_layers(arguments, "layer", config);
  const bool all = layers.empty();
  for (Index layer = 0; all && layer < config.layers; ++layer) layers.push_back(layer);
  require_few_heads(arguments, run, static_cast<double>(kinds.size() * layers.size()), options);

  std::vector<LayerSubsets> subsets;
  for (const AblationKind kind : kinds)
    for (LayerSubsets& layer :
         ablate_subsets(run.checkpoint.model, run.batch, reference, kind, layers, options))
      subsets.push_back(std::move(layer));
  arguments.flag("json") ? print_json(run, subsets) : print_text(run, subsets);
  std::cout.flush();
  if (!all) return;
  const Index step = run.checkpoint.step;
  subsets_table(subsets, step, run.batch.size()).write(run.directory.table_file("subsets"));
  shapley_table(subsets, step, run.batch.size()).write(run.directory.table_file("shapley"));
  interactions_table(subsets, step, run.batch.size()).write(run.directory.table_file("interactions"));
}

void ablate_components(const Arguments& arguments, const LoadedRun& run, const Batch& reference,
                       const EvaluateOptions& options) {
  const Transformer& model = run.checkpoint.model;
  const std::vector<AblationKind> kinds = parse_kinds(arguments);
  const std::vector<Site> named = named_components(arguments, model.config());
  if (arguments.has("most-heads")) throw UsageError("--most-heads is for --subsets");
  std::vector<Removal> removals;
  if (named.empty())
    removals = single_removals(kinds, all_components(model.config()));
  else
    for (const AblationKind kind : kinds) removals.push_back({kind, named});
  const AblatedSets ablated{kinds, ablate(model, run.batch, reference, removals, options)};
  arguments.flag("json") ? print_json(run, ablated) : print_text(run, ablated);
  std::cout.flush();
  if (named.empty())
    ablation_table(ablated.study.ablations, run.checkpoint.step, run.batch.size())
        .write(run.directory.table_file("ablation"));
}

void add_options(Arguments& arguments) {
  const auto several = [] { return cxxopts::value<std::vector<std::string>>(); };
  arguments.options()("kind", "what stands in: one of the kinds below, or all (default: zero)",
                      cxxopts::value<std::string>(), "KIND");
  arguments.options()("head", "this head, as in 0.1 for head 1 of layer 0; several times: all together",
                      several(), "LAYER.HEAD");
  arguments.options()("layer", "all heads of this layer", several(), "L");
  arguments.options()("feed-forward", "this layer's feed-forward output", several(), "L");
  arguments.options()("subsets", "every subset of each layer's heads");
  arguments.options()(
      "most-heads",
      fmt::format("with --subsets: refuse more heads a layer than this, up to {} (default: {})",
                  kMostSubsetHeads, kDefaultMostHeads),
      cxxopts::value<std::string>(), "N");
  arguments.epilogue(epilogue());
}

}  // namespace

int ablate_command(const Words& words) {
  Arguments arguments("ablate", "What the loss does when heads, or feed-forward outputs, are taken out.",
                      "RUN");
  add_run_options(arguments);
  add_options(arguments);
  if (!arguments.parse(words)) return 0;
  const LoadedRun run = load_run(arguments);
  if (run.checkpoint.model.config().layers == 0)
    throw UsageError("this model has no layers, so no heads to ablate");
  const EvaluateOptions options{.threads = arguments.threads()};
  const Batch reference = reference_batch(*run.task, run.batch, run.checkpoint.config.train.evaluation_seed);
  if (arguments.flag("subsets"))
    ablate_all_subsets(arguments, run, reference, options);
  else
    ablate_components(arguments, run, reference, options);
  return 0;
}

}  // namespace tapehead::app
