#include "tapehead/app/subsets_output.h"

#include <bit>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/ablation_output.h"
#include "tapehead/app/json.h"
#include "tapehead/app/table.h"

namespace tapehead::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPrinted = 32;  // subsets of a layer
constexpr std::size_t kMostListed = 8;    // smallest sets

void print_subsets(const LayerSubsets& layer) {
  TextTable table({"heads ablated", "change in loss on induction", "accuracy on induction"});
  const bool all = layer.subsets.size() <= kMostPrinted;
  for (PlayerSet set = 1; set < layer.subsets.size(); ++set) {
    if (!all && std::popcount(set) > 1 && set + 1 < layer.subsets.size()) continue;
    const Ablation& ablation = layer.subsets[set];
    table.add({set_name(set), with_interval(ablation.change_induction),
               fmt::format("{} [{}, {}]", decimals(ablation.accuracy_induction.mean, 3),
                           decimals(ablation.accuracy_induction.low, 3),
                           decimals(ablation.accuracy_induction.high, 3))});
  }
  std::cout << table.text();
  if (!all)
    std::cout << fmt::format("(each head and all of them; the table subsets.csv has all {} subsets)\n",
                             grouped(static_cast<long long>(layer.subsets.size())));
  std::cout << "\n";
}

void print_shares(const LayerSubsets& layer) {
  TextTable heads({"head", "Shapley value", "share of the layer", "ablated alone"});
  for (const HeadShare& head : layer.heads)
    heads.add({std::to_string(head.head), with_interval(head.shapley),
               std::isfinite(head.share) ? fmt::format("{} %", decimals(100 * head.share, 1)) : "-",
               with_interval(head.alone)});
  std::cout << heads.text() << "\n";
  if (layer.pairs.empty()) return;
  TextTable pairs({"pair", "interaction", "so together the two cost"});
  for (const PairInteraction& pair : layer.pairs)
    pairs.add({fmt::format("heads {} and {}", pair.first, pair.second), with_interval(pair.index),
               pair.index.low > 0    ? "more than one by one, as heads do that stand in for one another"
               : pair.index.high < 0 ? "less than one by one, as heads do that need one another"
                                     : "what they cost one by one"});
  std::cout << pairs.text() << "\n";
}

std::string listed(const std::vector<PlayerSet>& sets) {
  std::string text;
  for (std::size_t i = 0; i < sets.size() && i < kMostListed; ++i)
    text += fmt::format("{}{{{}}}", i == 0 ? "" : " or ", sets[i] == 0 ? "" : set_name(sets[i]));
  if (sets.size() > kMostListed)
    text += fmt::format(" or {} more of {} heads", sets.size() - kMostListed, std::popcount(sets.front()));
  return text;
}

void print_smallest_sets(const LayerSubsets& layer) {
  if (!layer.behaviour_is_there()) {
    std::cout << fmt::format(
        "The plain model has an accuracy of {} on induction positions, below {}: there is no behaviour to "
        "break or to keep.\n",
        decimals(layer.plain(), 3), decimals(layer.there_from(), 3));
    return;
  }
  std::cout << fmt::format("Smallest set whose removal breaks the behaviour (accuracy below {}): {}\n",
                           decimals(layer.broken_below(), 3),
                           layer.breaking.empty() ? "none, not even all of them" : listed(layer.breaking));
  std::cout << fmt::format("Smallest set of the layer that alone keeps it (accuracy at least {}): {}\n",
                           decimals(layer.kept_from(), 3),
                           layer.keeping.front() == 0 ? "{}, none of them is needed" : listed(layer.keeping));
}

void print_team(const LayerSubsets& layer) {
  const std::string costs =
      fmt::format("One by one the heads of layer {} cost {} nats in all, together {} (difference {})",
                  layer.layer, signed_decimals(layer.whole().mean - layer.excess.mean, 3),
                  signed_decimals(layer.whole().mean, 3), with_interval(layer.excess));
  switch (single_heads(layer)) {
    case SingleHeads::understate:
      std::cout
          << costs
          << ":\nsingle-head ablation UNDERSTATES this team; each head hides what another can do in its "
             "place.\n";
      break;
    case SingleHeads::overstate:
      std::cout << costs
                << ":\nsingle-head ablation overstates them, as the same loss is counted more than once.\n";
      break;
    case SingleHeads::add_up:
      std::cout
          << costs
          << ":\nsingle-head ablation tells the layer's effect, to a tenth of it or within the interval.\n";
  }
}

Json json_of_sets(const std::vector<PlayerSet>& sets) {
  Json list = Json::array();
  for (const PlayerSet set : sets) list.push_back(set_name(set));
  return list;
}

Json json_of_layer(const LayerSubsets& layer) {
  Json document{{"kind", std::string(definition_of(layer.kind).name)}, {"layer", layer.layer}};
  for (PlayerSet set = 0; set < layer.subsets.size(); ++set) {
    const Ablation& ablation = layer.subsets[set];
    document["subsets"].push_back({{"heads", set_name(set)},
                                   {"change_induction", json_of(ablation.change_induction)},
                                   {"change_noise", json_of(ablation.change_noise)},
                                   {"change_loss", json_of(ablation.change_loss)},
                                   {"accuracy_induction", json_of(ablation.accuracy_induction)}});
  }
  for (const HeadShare& head : layer.heads)
    document["heads"].push_back({{"head", head.head},
                                 {"shapley", json_of(head.shapley)},
                                 {"share", head.share},
                                 {"alone", json_of(head.alone)}});
  document["interactions"] = Json::array();
  for (const PairInteraction& pair : layer.pairs)
    document["interactions"].push_back(
        {{"first", pair.first}, {"second", pair.second}, {"interaction", json_of(pair.index)}});
  document["whole_layer"] = json_of(layer.whole());
  document["excess"] = json_of(layer.excess);
  const SingleHeads verdict = single_heads(layer);
  document["single_heads"] = verdict == SingleHeads::understate  ? "understate"
                             : verdict == SingleHeads::overstate ? "overstate"
                                                                 : "add up";
  document["behaviour_is_there"] = layer.behaviour_is_there();
  document["smallest_breaking"] = json_of_sets(layer.breaking);
  document["smallest_keeping"] = json_of_sets(layer.keeping);
  return document;
}

}  // namespace

void print_text(const LoadedRun& run, const std::vector<LayerSubsets>& layers) {
  std::cout << fmt::format(
      "{} at step {}: every subset S of a layer's heads ablated together, all others left as they are.\n"
      "v(S) is the rise in loss on induction positions, in nats; Shapley values (Shapley 1953) share out "
      "v(all "
      "heads), interactions are\nShapley interaction indices (Grabisch and Roubens 1999). Means over {} "
      "sequences, with 95 % paired bootstrap intervals.\nWithout ablation: accuracy {} on induction "
      "positions; "
      "chance is {}, the ceiling 1.\n",
      run.directory.path().string(), run.checkpoint.step, run.batch.size(),
      decimals(layers.front().plain(), 3), decimals(layers.front().chance, 3));
  for (const LayerSubsets& layer : layers) {
    std::cout << fmt::format("\nLayer {}, {} ablation: replaced by {}\n\n", layer.layer,
                             definition_of(layer.kind).name, definition_of(layer.kind).replacement);
    print_subsets(layer);
    print_shares(layer);
    print_smallest_sets(layer);
    print_team(layer);
  }
}

void print_json(const LoadedRun& run, const std::vector<LayerSubsets>& layers) {
  Json document{
      {"run", run.directory.path().string()},
      {"step", run.checkpoint.step},
      {"sequences", run.batch.size()},
      {"worth", "rise in loss on induction positions, in nats, when the heads are ablated together"},
      {"accuracy_plain", layers.front().plain()},
      {"chance", layers.front().chance},
      {"broken_below", layers.front().broken_below()},
      {"kept_from", layers.front().kept_from()},
      {"there_from", layers.front().there_from()}};
  for (const LayerSubsets& layer : layers) document["layers"].push_back(json_of_layer(layer));
  std::cout << json_text(document);
}

}  // namespace tapehead::app
