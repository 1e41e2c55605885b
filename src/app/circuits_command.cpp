#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/commands.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/attribution.h"
#include "tapehead/interp/circuit_tables.h"

namespace tapehead::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPairs = 24;  // that are printed

/// A value of the lists below: what is printed with it.
struct Definition {
  const char* name;
  const char* text;
};

constexpr std::array<Definition, 9> kDefinitions{{
    {"previous_token_circuit",
     "mean weight on q - 1 in the causal softmax of W_pos W_Q W_K' W_pos'/sqrt(D): by position alone"},
    {"copying_top1",
     "full OV, W_E W_V W_O W_U: share of tokens that raise themselves more than any other token"},
    {"copying_top5", "the same, among the five that they raise most"},
    {"copying_eigenvalues", "sum of Re(eigenvalue) / sum of |eigenvalue| of full OV"},
    {"composition",
     "|W_A W_B| / (|W_A| |W_B|) in Frobenius norms: W_A the earlier head's OV; W_B the later one's QK (Q), "
     "its transpose (K), or OV (V)"},
    {"diagonal_difference",
     "(W_E W_Q)(W_E W_V W_O W_K)'/sqrt(D) in tokens, the later head's Q and K: mean on the diagonal less the "
     "mean off it"},
    {"top1", "of the same: share of rows whose largest number is on the diagonal"},
    {"logit", "the component's part of the right token's logit, a mean over positions"},
    {"above_mean", "the same less what it gives to all tokens on average, which no probability shows"},
}};

/// What a run's circuits and logits come to.
struct Findings {
  Circuits circuits;
  Attribution attribution;
};

Findings findings_of(const LoadedRun& run, const EvaluateOptions& options) {
  const Transformer& model = run.checkpoint.model;
  const CircuitOptions circuits = usual_circuit_options(model, run.checkpoint.config, run.batch, options);
  return {circuits_of(model, circuits), attribute_logits(model, run.batch, options)};
}

/// What is folded into the matrices, and what is held or left out.
std::string folded(const ModelConfig& config) {
  std::string text = "no norms, so nothing is folded or held";
  if (config.norm != NormKind::none)
    text = fmt::format(
        "{} folded into the matrices that read; their factor is held at\nits mean over the "
        "evaluation batch",
        config.norm == NormKind::layer ? "layer norms: centring and gain are" : "RMSNorms: the gain is");
  if (!has_bilinear_scores(config))
    text += "; scores are no product of queries and keys, so what rests on one is left out";
  if (config.smeared_keys) text += "; that keys are smeared is left out";
  if (config.positions == Positions::rotary || config.positions == Positions::alibi)
    text += "; what distance does to scores is left out";
  if (config.qkv_bias || config.bias) text += "; biases are left out";
  if (config.feed_forward > 0) text += "; feed-forward parts are passed over";
  return text;
}

std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

double chance_top(const Circuits& circuits, Index among) {
  return static_cast<double>(std::min(among, circuits.vocabulary)) / static_cast<double>(circuits.vocabulary);
}

void print_heads(const LoadedRun& run, const Circuits& circuits) {
  TextTable table({"head", "previous_token_circuit", "copying_top1", "copying_top5", "copying_eigenvalues",
                   "largest |OV|", "largest |QK|"});
  const auto largest = [](const std::vector<double>& singular) {
    return decimals(singular.empty() ? std::nan("") : singular.front(), 2);
  };
  for (const HeadCircuits& head : circuits.heads)
    table.add({fmt::format("layer {} head {}", head.layer, head.head), decimals(head.previous_token, 4),
               decimals(head.copying_top1, 4), decimals(head.copying_top5, 4),
               decimals(head.copying_eigenvalues, 4), largest(head.ov_singular), largest(head.qk_singular)});
  table.add({"chance", decimals(circuits.chance_previous_token(), 4), decimals(chance_top(circuits, 1), 4),
             decimals(chance_top(circuits, 5), 4), "0.0000", "-", "-"});
  table.add({"ceiling", "1.0000", "1.0000", "1.0000", "1.0000", "-", "-"});
  const std::string sampled =
      circuits.tokens < circuits.vocabulary
          ? fmt::format(" a sample of {} of {} tokens", circuits.tokens, circuits.vocabulary)
          : fmt::format(" all {} tokens", circuits.tokens);
  std::cout << fmt::format(
                   "{} at step {}: what the heads do by their weights alone, over {} positions and{}\n{}\n\n",
                   run.directory.path().string(), run.checkpoint.step, circuits.positions, sampled,
                   folded(run.checkpoint.config.model))
            << table.text();
}

/// The pairs with the largest K-composition, or all, in their order.
std::vector<HeadPair> pairs_to_print(const Circuits& circuits) {
  std::vector<HeadPair> pairs = circuits.pairs;
  if (pairs.size() <= kMostPairs) return pairs;
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const HeadPair& a, const HeadPair& b) { return a.scores[1] > b.scores[1]; });
  pairs.resize(kMostPairs);
  return pairs;
}

void print_pairs(const Circuits& circuits) {
  const std::vector<HeadPair> pairs = pairs_to_print(circuits);
  if (pairs.empty()) return;
  TextTable table({"earlier", "later", "Q", "K", "V", "diagonal_difference", "top1"});
  for (const HeadPair& pair : pairs)
    table.add({fmt::format("layer {} head {}", pair.earlier_layer, pair.earlier_head),
               fmt::format("layer {} head {}", pair.layer, pair.head), decimals(pair.scores[0], 4),
               decimals(pair.scores[1], 4), decimals(pair.scores[2], 4),
               signed_decimals(pair.tokens.difference, 3), decimals(pair.tokens.top1, 4)});
  const std::string mean = decimals(circuits.baseline.mean, 4);
  table.add(
      {"random", "", mean, mean, mean, "+0.000", decimals(1 / static_cast<double>(circuits.tokens), 4)});
  table.add({"ceiling", "", "1.0000", "1.0000", "1.0000", "-", "1.0000"});
  const std::string which = pairs.size() < circuits.pairs.size()
                                ? fmt::format("the {} pairs of {} with the largest K-composition",
                                              pairs.size(), circuits.pairs.size())
                                : "every pair of heads";
  std::cout << fmt::format(
                   "\ncomposition scores of {}; random matrices of these shapes score {} +- {} (standard "
                   "deviation)\n\n",
                   which, mean, decimals(circuits.baseline.spread, 4))
            << table.text();
}

std::string name_of(const Component& component) {
  std::string name = component.name;
  std::replace(name.begin(), name.end(), '_', ' ');
  if (component.layer == kNoLayer) return name;
  if (component.head == kAllHeads) return fmt::format("layer {} {}", component.layer, name);
  return fmt::format("layer {} head {}", component.layer, component.head);
}

void print_attribution(const Attribution& attribution, Index sequences) {
  TextTable table({"component", "induction: logit", "above_mean", "noise: logit", "above_mean"});
  const auto add = [&](const std::string& name, const auto& parts) {
    table.add({name, signed_decimals(parts[1].logit, 3), signed_decimals(parts[1].above_mean, 3),
               signed_decimals(parts[2].logit, 3), signed_decimals(parts[2].above_mean, 3)});
  };
  for (const Component& component : attribution.components) add(name_of(component), component.parts);
  add("the model's logit", attribution.logits);
  std::cout
      << fmt::format(
             "\nwhat each component adds to the right token's logit, directly, means over {} sequences; "
             "the parts sum to\nthe logit at every position, the largest error is {:.2g}; a part of no "
             "consequence is 0 above the mean\n\n",
             sequences, attribution.largest_error)
      << table.text() << "\n";
  for (const Definition& definition : kDefinitions)
    std::cout << fmt::format("{:22} {}\n", definition.name, definition.text);
}

Json json_of(const std::vector<std::complex<double>>& values) {
  Json list = Json::array();
  for (const std::complex<double>& value : values) list.push_back({value.real(), value.imag()});
  return list;
}

Json json_of(const HeadCircuits& head) {
  return {{"layer", head.layer},
          {"head", head.head},
          {"previous_token_circuit", head.previous_token},
          {"copying_top1", head.copying_top1},
          {"copying_top5", head.copying_top5},
          {"copying_eigenvalues", head.copying_eigenvalues},
          {"eigenvalues",
           {{"OV", json_of(head.ov)}, {"QK", json_of(head.qk)}, {"OV_tokens", json_of(head.ov_tokens)}}},
          {"singular_values", {{"OV", head.ov_singular}, {"QK", head.qk_singular}}}};
}

Json json_of(const HeadPair& pair) {
  Json entry{{"earlier_layer", pair.earlier_layer},
             {"earlier_head", pair.earlier_head},
             {"layer", pair.layer},
             {"head", pair.head}};
  for (std::size_t how = 0; how < pair.scores.size(); ++how)
    entry[std::string(kCompositionNames[how])] = pair.scores[how];
  entry["diagonal_difference"] = pair.tokens.difference;
  entry["top1"] = pair.tokens.top1;
  return entry;
}

Json json_of(const std::array<AttributedPart, kAttributionKinds.size()>& parts) {
  Json entry;
  for (std::size_t kind = 0; kind < parts.size(); ++kind)
    entry[std::string(kAttributionKinds[kind])] = {{"logit", parts[kind].logit},
                                                   {"above_mean", parts[kind].above_mean}};
  return entry;
}

Json json_of(const Attribution& attribution) {
  Json components = Json::array();
  for (const Component& component : attribution.components) {
    Json entry{{"component", component.name}};
    if (component.layer != kNoLayer) entry["layer"] = component.layer;
    if (component.head != kAllHeads) entry["head"] = component.head;
    entry.update(json_of(component.parts));
    components.push_back(std::move(entry));
  }
  return {{"largest_error", attribution.largest_error},
          {"components", std::move(components)},
          {"logits", json_of(attribution.logits)}};
}

void print_json(const LoadedRun& run, const Findings& findings) {
  const Circuits& circuits = findings.circuits;
  Json document{{"run", run.directory.path().string()},
                {"step", run.checkpoint.step},
                {"sequences", run.batch.size()},
                {"positions", circuits.positions},
                {"tokens", circuits.tokens},
                {"folded", in_one_line(folded(run.checkpoint.config.model))}};
  for (const Definition& definition : kDefinitions)
    document["definitions"][definition.name] = definition.text;
  document["chance"] = {{"previous_token_circuit", circuits.chance_previous_token()},
                        {"copying_top1", chance_top(circuits, 1)},
                        {"copying_top5", chance_top(circuits, 5)},
                        {"copying_eigenvalues", 0},
                        {"composition", circuits.baseline.mean},
                        {"composition_spread", circuits.baseline.spread},
                        {"diagonal_difference", 0},
                        {"top1", 1 / static_cast<double>(circuits.tokens)}};
  document["ceiling"] = 1;
  document["heads"] = Json::array();
  for (const HeadCircuits& head : circuits.heads) document["heads"].push_back(json_of(head));
  document["composition"] = Json::array();
  for (const HeadPair& pair : circuits.pairs) document["composition"].push_back(json_of(pair));
  document["attribution"] = json_of(findings.attribution);
  std::cout << json_text(document);
}

void write_tables(const LoadedRun& run, const Findings& findings) {
  const Index step = run.checkpoint.step;
  const Index sequences = run.batch.size();
  const RunDirectory& directory = run.directory;
  circuit_table(findings.circuits, step, sequences).write(directory.table_file("circuits"));
  composition_table(findings.circuits, step, sequences).write(directory.table_file("composition"));
  eigenvalue_table(findings.circuits, step, sequences).write(directory.table_file("eigenvalues"));
  attribution_table(findings.attribution, step, sequences).write(directory.table_file("attribution"));
}

}  // namespace

int circuits_command(const Words& words) {
  Arguments arguments("circuits",
                      "What the heads of a run's model do by their weights, how they compose, and what each "
                      "part of it adds to the right token's logit.",
                      "RUN");
  add_run_options(arguments);
  if (!arguments.parse(words)) return 0;
  const LoadedRun run = load_run(arguments);
  if (run.checkpoint.config.model.layers == 0) throw UsageError("this model has no layers, so no circuits");
  const Findings findings = findings_of(run, {.threads = arguments.threads()});
  if (arguments.flag("json")) {
    print_json(run, findings);
  } else {
    print_heads(run, findings.circuits);
    print_pairs(findings.circuits);
    print_attribution(findings.attribution, run.batch.size());
  }
  std::cout.flush();
  write_tables(run, findings);
  return 0;
}

}  // namespace tapehead::app
