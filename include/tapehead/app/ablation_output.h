/// What `tapehead ablate` prints of ablations.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tapehead/app/estimate_text.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/interp/ablation.h"

namespace tapehead::app {

/// Ablations of the same sets of components by each of some kinds, kind after kind.
struct AblatedSets {
  std::vector<AblationKind> kinds;
  AblationStudy study;

  std::size_t sets() const { return study.ablations.size() / kinds.size(); }
  const Ablation& at(std::size_t set, std::size_t kind) const { return study.ablations[kind * sets() + set]; }
};

/// "layer 0 head 1 + layer 1 all heads"
std::string set_label(const std::vector<Site>& components);
/// What losses and accuracies are measured against: those of the plain model, chance, and the ceiling.
std::string plain_in_words(const LoadedRun& run, const Evaluation& plain);

nlohmann::ordered_json json_of(const Ablation& ablation);
nlohmann::ordered_json json_of_plain(const Evaluation& plain);

/// One kind: a row a set with every change. Several: a table a quantity with the kinds side by side, marks
/// where they disagree, and by which route the effect goes.
void print_text(const LoadedRun& run, const AblatedSets& ablated);
void print_json(const LoadedRun& run, const AblatedSets& ablated);

}  // namespace tapehead::app
