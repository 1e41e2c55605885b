#include "tapehead/app/ablation_output.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tapehead/app/json.h"
#include "tapehead/app/table.h"
#include "tapehead/interp/ablation_kinds.h"

namespace tapehead::app {

namespace {

using Json = nlohmann::ordered_json;

bool is_stand_in(AblationKind kind) {
  return kind == AblationKind::zero || kind == AblationKind::mean || kind == AblationKind::resample;
}

/// How a change disagrees with those of the kinds to the left of it; the worst of them.
Disagreement disagreement_at(const AblatedSets& ablated, std::size_t set, std::size_t kind,
                             Estimate Ablation::*change) {
  Disagreement worst = Disagreement::none;
  if (!is_stand_in(ablated.kinds[kind])) return worst;
  for (std::size_t left = 0; left < kind; ++left)
    if (is_stand_in(ablated.kinds[left]))
      worst = std::max(worst, disagreement(ablated.at(set, left).*change, ablated.at(set, kind).*change));
  return worst;
}

std::string_view mark_of(Disagreement disagreement) {
  if (disagreement == Disagreement::none) return "  ";
  return disagreement == Disagreement::sign ? " ±" : " ≠";
}

/// Where all the kinds that it takes are there.
std::optional<Route> route_at(const LoadedRun& run, const AblatedSets& ablated, std::size_t set) {
  const auto find = [&](AblationKind kind) -> const Ablation* {
    for (std::size_t i = 0; i < ablated.kinds.size(); ++i)
      if (ablated.kinds[i] == kind) return &ablated.at(set, i);
    return nullptr;
  };
  const Ablation* zero = find(AblationKind::zero);
  const Ablation* patterns = find(AblationKind::pattern_preserving);
  const Ablation* values = find(AblationKind::value_preserving);
  if (zero == nullptr || patterns == nullptr || values == nullptr) return std::nullopt;
  return route_of(*zero, *patterns, *values, run.checkpoint.model.config());
}

void print_one_kind(const AblatedSets& ablated) {
  TextTable table({"ablated", "loss, induction", "loss, noise", "loss, all", "accuracy, induction",
                   "accuracy, noise", "accuracy left"});
  for (const Ablation& a : ablated.study.ablations)
    table.add({set_label(a.removal.components), with_interval(a.change_induction),
               with_interval(a.change_noise), with_interval(a.change_loss),
               with_interval(a.change_accuracy_induction), with_interval(a.change_accuracy_noise),
               decimals(a.accuracy_induction.mean, 3)});
  std::cout << "Changes, ablated less plain; accuracy left is that on induction positions.\n\n"
            << table.text();
}

/// Returns which marks were printed.
std::vector<Disagreement> print_side_by_side(const LoadedRun& run, const AblatedSets& ablated,
                                             const std::string& title, Estimate Ablation::*change,
                                             bool with_routes) {
  std::vector<std::string> columns{"ablated"};
  for (const AblationKind kind : ablated.kinds)
    columns.push_back(std::string(definition_of(kind).name) + (is_stand_in(kind) ? "  " : ""));
  const bool routes = with_routes && route_at(run, ablated, 0).has_value();
  if (routes) columns.emplace_back("how the effect goes");
  TextTable table(std::move(columns));
  std::vector<Disagreement> marks;
  for (std::size_t set = 0; set < ablated.sets(); ++set) {
    std::vector<std::string> row{set_label(ablated.at(set, 0).removal.components)};
    for (std::size_t kind = 0; kind < ablated.kinds.size(); ++kind) {
      const Disagreement found = disagreement_at(ablated, set, kind, change);
      marks.push_back(found);
      row.push_back(with_interval(ablated.at(set, kind).*change));
      if (is_stand_in(ablated.kinds[kind])) row.back() += mark_of(found);
    }
    if (routes) row.emplace_back(words_of(*route_at(run, ablated, set)));
    table.add(std::move(row));
  }
  std::cout << title << "\n\n" << table.text() << "\n";
  return marks;
}

void explain_marks(const std::vector<Disagreement>& marks) {
  const auto marked = [&](Disagreement mark) { return std::ranges::count(marks, mark) > 0; };
  if (marked(Disagreement::size))
    std::cout << "≠ the interval does not meet that of a kind to the left (of zero, mean and resample): how "
                 "much is lost depends on\n  what stands in, so name the kind with the number.\n";
  if (marked(Disagreement::sign))
    std::cout << "± the sign is not that of a kind to the left: with one stand-in the model loses, with the "
                 "other it gains; whether this\n  component helps is not settled by ablation.\n";
  if (!marked(Disagreement::size) && !marked(Disagreement::sign))
    std::cout << "zero, mean and resample agree everywhere, within their intervals.\n";
}

void explain_routes() {
  std::cout << fmt::format(
      "How the effect goes: an effect shows where a kind has at least {:.0f} % of zero's change in loss on "
      "induction positions. Shown with\nvalues held and hidden with patterns held: through queries and keys "
      "of "
      "later heads; the other way round: through their values.\nWhat goes straight to the logits shows in "
      "both.\n",
      100 * kShownShare);
}

void print_all_kinds(const LoadedRun& run, const AblatedSets& ablated) {
  std::vector<Disagreement> marks = print_side_by_side(
      run, ablated, "Change in loss on induction positions (nats)", &Ablation::change_induction, true);
  for (const auto& [title, change] :
       {std::pair("Change in loss on noise positions (nats)", &Ablation::change_noise),
        std::pair("Change in accuracy on induction positions (hits a position)",
                  &Ablation::change_accuracy_induction)}) {
    const std::vector<Disagreement> more = print_side_by_side(run, ablated, title, change, false);
    marks.insert(marks.end(), more.begin(), more.end());
  }
  explain_marks(marks);
  if (route_at(run, ablated, 0)) explain_routes();
}

Json json_of_comparison(const LoadedRun& run, const AblatedSets& ablated, std::size_t set) {
  Json comparison{{"ablated", set_label(ablated.at(set, 0).removal.components)}};
  comparison["disagreements"] = Json::array();
  for (std::size_t b = 0; b < ablated.kinds.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      if (!is_stand_in(ablated.kinds[a]) || !is_stand_in(ablated.kinds[b])) continue;
      for (const auto& [name, change] : {std::pair("change_induction", &Ablation::change_induction),
                                         std::pair("change_noise", &Ablation::change_noise)}) {
        const Disagreement found = disagreement(ablated.at(set, a).*change, ablated.at(set, b).*change);
        if (found == Disagreement::none) continue;
        comparison["disagreements"].push_back(
            {{"of", name},
             {"kinds", {definition_of(ablated.kinds[a]).name, definition_of(ablated.kinds[b]).name}},
             {"in", found == Disagreement::sign ? "sign" : "size"}});
      }
    }
  if (const std::optional<Route> route = route_at(run, ablated, set))
    comparison["route"] = std::string(words_of(*route));
  return comparison;
}

Json json_of_component(const Site& component) {
  Json head = component.kind == SiteKind::feed_forward_output ? Json("feed_forward")
              : component.head == kAllHeads                   ? Json("all")
                                                              : Json(component.head);
  return {{"layer", component.layer}, {"head", std::move(head)}};
}

}  // namespace

std::string set_label(const std::vector<Site>& components) {
  std::string label;
  for (const Site& component : components) label += (label.empty() ? "" : " + ") + component_name(component);
  return label;
}

std::string plain_in_words(const LoadedRun& run, const Evaluation& plain) {
  const auto vocabulary = static_cast<double>(run.task->vocabulary());
  return fmt::format(
      "Plain: loss {} on induction positions, {} on noise, {} on all; accuracy {} on induction positions, {} "
      "on noise.\nChance: loss ln {} = {}, accuracy {}; the ceiling of accuracy is 1.\n",
      decimals(known_mean(plain.loss_by_sequence(Kind::induction)), 3),
      decimals(known_mean(plain.loss_by_sequence(Kind::noise)), 3),
      decimals(known_mean(plain.loss_by_sequence()), 3),
      decimals(known_mean(plain.accuracy_by_sequence(Kind::induction)), 3),
      decimals(known_mean(plain.accuracy_by_sequence(Kind::noise)), 3), run.task->vocabulary(),
      decimals(std::log(vocabulary), 3), decimals(1 / vocabulary, 3));
}

Json json_of(const Ablation& ablation) {
  Json entry{{"kind", std::string(definition_of(ablation.removal.kind).name)}};
  const std::vector<Site>& components = ablation.removal.components;
  if (components.size() == 1)
    entry.update(json_of_component(components.front()));
  else
    for (const Site& component : components) entry["components"].push_back(json_of_component(component));
  entry.update({{"change_loss", json_of(ablation.change_loss)},
                {"change_induction", json_of(ablation.change_induction)},
                {"change_noise", json_of(ablation.change_noise)},
                {"change_accuracy_induction", json_of(ablation.change_accuracy_induction)},
                {"change_accuracy_noise", json_of(ablation.change_accuracy_noise)},
                {"accuracy_induction", json_of(ablation.accuracy_induction)}});
  return entry;
}

Json json_of_plain(const Evaluation& plain) {
  return {{"loss", known_mean(plain.loss_by_sequence())},
          {"loss_induction", known_mean(plain.loss_by_sequence(Kind::induction))},
          {"loss_noise", known_mean(plain.loss_by_sequence(Kind::noise))},
          {"accuracy_induction", known_mean(plain.accuracy_by_sequence(Kind::induction))},
          {"accuracy_noise", known_mean(plain.accuracy_by_sequence(Kind::noise))}};
}

void print_text(const LoadedRun& run, const AblatedSets& ablated) {
  std::cout << fmt::format(
      "{} at step {}, ablation: a head's output, before the output projection, or a feed-forward output is "
      "replaced by\n",
      run.directory.path().string(), run.checkpoint.step);
  for (const AblationKind kind : ablated.kinds)
    std::cout << fmt::format("  {:20}{}\n", definition_of(kind).name, definition_of(kind).replacement);
  std::cout << fmt::format(
                   "Means over {} sequences, each the mean of its positions, with 95 % paired bootstrap "
                   "intervals.\n",
                   run.batch.size())
            << plain_in_words(run, ablated.study.plain) << "\n";
  if (ablated.kinds.size() == 1)
    print_one_kind(ablated);
  else
    print_all_kinds(run, ablated);
}

void print_json(const LoadedRun& run, const AblatedSets& ablated) {
  Json document{{"run", run.directory.path().string()}, {"step", run.checkpoint.step}};
  for (const AblationKind kind : ablated.kinds)
    document["kinds"][std::string(definition_of(kind).name)] = std::string(definition_of(kind).replacement);
  document["sequences"] = run.batch.size();
  document["plain"] = json_of_plain(ablated.study.plain);
  document["ablations"] = Json::array();
  for (const Ablation& ablation : ablated.study.ablations) document["ablations"].push_back(json_of(ablation));
  if (ablated.kinds.size() > 1) {
    document["shown_share"] = kShownShare;
    document["comparisons"] = Json::array();
    for (std::size_t set = 0; set < ablated.sets(); ++set)
      document["comparisons"].push_back(json_of_comparison(run, ablated, set));
  }
  std::cout << json_text(document);
}

}  // namespace tapehead::app
