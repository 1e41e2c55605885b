#include "tapehead/interp/ablation.h"

#include <iterator>
#include <string>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// What an evaluation holds for every sequence.
struct BySequence {
  std::vector<double> loss;
  std::vector<double> loss_induction;
  std::vector<double> loss_noise;
  std::vector<double> accuracy_induction;
  std::vector<double> accuracy_noise;
};

BySequence by_sequence(const Evaluation& evaluation) {
  return {evaluation.loss_by_sequence(), evaluation.loss_by_sequence(Kind::induction),
          evaluation.loss_by_sequence(Kind::noise), evaluation.accuracy_by_sequence(Kind::induction),
          evaluation.accuracy_by_sequence(Kind::noise)};
}

std::string head_cell(const Site& component) {
  if (component.kind == SiteKind::feed_forward_output) return "feed_forward";
  return component.head == kAllHeads ? "all" : std::to_string(component.head);
}

void append(std::vector<std::string>& row, std::vector<std::string> cells) {
  row.insert(row.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
}

}  // namespace

std::vector<Ablation> compare(const AblatedEvaluations& evaluations, const std::vector<Removal>& removals) {
  require(evaluations.ablated.size() == removals.size(),
          "[ablation] expected one evaluation for each of {} removals, got {}", removals.size(),
          evaluations.ablated.size());
  Bootstrap estimate;
  const BySequence plain = by_sequence(evaluations.plain);
  const double accuracy_plain = known_mean(plain.accuracy_induction);
  std::vector<Ablation> ablations;
  for (std::size_t i = 0; i < removals.size(); ++i) {
    const BySequence ablated = by_sequence(evaluations.ablated[i]);
    const auto change = [&](std::vector<double> BySequence::*values) {
      return estimate(differences(ablated.*values, plain.*values));
    };
    ablations.push_back({.removal = removals[i],
                         .change_loss = change(&BySequence::loss),
                         .change_induction = change(&BySequence::loss_induction),
                         .change_noise = change(&BySequence::loss_noise),
                         .change_accuracy_induction = change(&BySequence::accuracy_induction),
                         .change_accuracy_noise = change(&BySequence::accuracy_noise),
                         .accuracy_induction = estimate(ablated.accuracy_induction),
                         .accuracy_plain = accuracy_plain});
  }
  return ablations;
}

AblationStudy ablate(const Transformer& model, const Batch& batch, const Batch& reference,
                     const std::vector<Removal>& removals, const EvaluateOptions& options) {
  AblatedEvaluations evaluations = evaluate_ablated(model, batch, reference, removals, options);
  std::vector<Ablation> ablations = compare(evaluations, removals);
  return {std::move(evaluations.plain), std::move(ablations)};
}

std::vector<Removal> single_removals(const std::vector<AblationKind>& kinds,
                                     const std::vector<Site>& components) {
  std::vector<Removal> removals;
  for (const AblationKind kind : kinds)
    for (const Site& component : components) removals.push_back({kind, {component}});
  return removals;
}

std::vector<std::string> measured_columns() {
  return {"change_loss",
          "change_induction",
          "low",
          "high",
          "change_noise",
          "accuracy_induction",
          "loss_low",
          "loss_high",
          "noise_low",
          "noise_high",
          "change_accuracy_induction",
          "change_accuracy_noise",
          "accuracy_plain",
          "accuracy_induction_low",
          "accuracy_induction_high",
          "change_accuracy_induction_low",
          "change_accuracy_induction_high",
          "change_accuracy_noise_low",
          "change_accuracy_noise_high"};
}

std::vector<std::string> measured_cells(const Ablation& a) {
  std::vector<std::string> cells;
  for (const double value :
       {a.change_loss.mean, a.change_induction.mean, a.change_induction.low, a.change_induction.high,
        a.change_noise.mean, a.accuracy_induction.mean, a.change_loss.low, a.change_loss.high,
        a.change_noise.low, a.change_noise.high, a.change_accuracy_induction.mean,
        a.change_accuracy_noise.mean, a.accuracy_plain, a.accuracy_induction.low, a.accuracy_induction.high,
        a.change_accuracy_induction.low, a.change_accuracy_induction.high, a.change_accuracy_noise.low,
        a.change_accuracy_noise.high})
    cells.push_back(csv_cell(value));
  return cells;
}

CsvTable ablation_table(const std::vector<Ablation>& ablations, Index step, Index sequences) {
  std::vector<std::string> columns{"kind", "layer", "head"};
  append(columns, measured_columns());
  append(columns, {"step", "sequences"});
  CsvTable table(std::move(columns));
  for (const Ablation& ablation : ablations) {
    const Removal& removal = ablation.removal;
    require(removal.components.size() == 1, "[ablation] a row is of one component, got {}",
            removal.components.size());
    const Site& component = removal.components.front();
    std::vector<std::string> row{std::string(definition_of(removal.kind).name),
                                 std::to_string(component.layer), head_cell(component)};
    append(row, measured_cells(ablation));
    append(row, {std::to_string(step), std::to_string(sequences)});
    table.add(std::move(row));
  }
  return table;
}

}  // namespace tapehead
