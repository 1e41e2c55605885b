#include "tapehead/app/formation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tapehead/app/table.h"

namespace tapehead::app {

namespace {

/// Steps as they are, all else to a few digits.
std::string number_text(double value) {
  return value == std::floor(value) && std::abs(value) >= 1 ? fmt::format("{:.0f}", value)
                                                            : fmt::format("{:.4g}", value);
}

std::string not_by(Index step) { return fmt::format("not by {}", step); }

std::string text_of(const FormationReport& report, std::string_view measure) {
  if (!report.has(measure)) return "-";
  const std::optional<double> value = report.value(measure);
  return value ? number_text(*value) : not_by(report.last_step);
}

std::string text_of(const Quantile& quantile) {
  return quantile.value ? number_text(*quantile.value) : not_by(quantile.not_by);
}

std::string definitions_text() {
  std::string text;
  for (const MeasureDefinition& measure : measure_definitions())
    text += fmt::format("{:18} {}\n", measure.name, measure.definition);
  return text;
}

std::string left_out_text(std::span<const FormationReport> reports) {
  std::set<std::string> left_out;
  for (const FormationReport& report : reports)
    left_out.insert(report.left_out.begin(), report.left_out.end());
  if (left_out.empty()) return "";
  return fmt::format("left out, for want of such a column in heads.csv: {}\n", fmt::join(left_out, ", "));
}

std::string step_text(const std::optional<Index>& step, Index last_step) {
  return step ? std::to_string(*step) : not_by(last_step);
}

std::string order_text(const FormationReport& report) {
  TextTable table({"moved at step", "began at", "what", "head", "from", "to"});
  for (const Move& move : in_order(report.moves))
    table.add({step_text(move.moved, report.last_step), step_text(move.began, report.last_step), move.name,
               move.head.empty() ? "-" : move.head, decimals(move.from, 3), decimals(move.to, 3)});
  return table.text();
}

/// Whether the order's table says it.
bool is_of_a_move(const FormationReport& report, const std::string& measure) {
  return std::ranges::any_of(report.moves, [&](const Move& move) {
    const bool of_a_score = !move.head.empty();
    return measure == "began_" + move.name || measure == "moved_" + move.name ||
           (of_a_score && (measure == "first_" + move.name || measure == "highest_" + move.name));
  });
}

std::string runs_table(std::span<const std::string> names, std::span<const FormationReport> reports,
                       std::span<const std::pair<const char*, const char*>> columns) {
  std::vector<std::string> head{"run"};
  for (const auto& [measure, title] : columns) head.emplace_back(title);
  TextTable table(std::move(head));
  for (std::size_t i = 0; i < reports.size(); ++i) {
    std::vector<std::string> row{names[i]};
    for (const auto& [measure, title] : columns) row.push_back(text_of(reports[i], measure));
    table.add(std::move(row));
  }
  return table.text();
}

std::string last_steps_text(std::span<const FormationReport> reports) {
  const auto [first, last] =
      std::ranges::minmax(reports, {}, [](const FormationReport& report) { return report.last_step; });
  if (first.last_step == last.last_step) return fmt::format("up to step {}", last.last_step);
  return fmt::format(
      "up to steps {} to {} (a run that ended early ranks last in what it had not done by then, though "
      "others "
      "may have done it later)",
      first.last_step, last.last_step);
}

constexpr std::pair<const char*, const char*> kFormationColumns[] = {
    {"onset", "onset"},
    {"half", "half"},
    {"done", "done"},
    {"width", "width"},
    {"final_accuracy_induction", "final accuracy"},
    {"highest_loss_noise", "noise loss: highest"},
    {"final_loss_noise", "final"},
    {"bump_height", "bump height"},
    {"hump_height", "hump height"}};
constexpr std::pair<const char*, const char*> kMoveColumns[] = {{"moved_previous_token", "previous_token"},
                                                                {"moved_k_composition", "k_composition"},
                                                                {"moved_copying", "copying"},
                                                                {"moved_induction", "induction"},
                                                                {"moved_loss_induction", "loss_induction"},
                                                                {"moved_loss", "loss"},
                                                                {"moved_loss_noise", "loss_noise"}};

}  // namespace

std::string formation_text(const std::string& name, const FormationReport& report,
                           const ScoreValues& chance) {
  TextTable table({"measure", "value"});
  for (const Measure& measure : report.measures)
    if (!is_of_a_move(report, measure.name)) table.add({measure.name, text_of(report, measure.name)});
  std::string scores;
  for (std::size_t i = 0; i < kScores.size(); ++i)
    if (std::ranges::find(kFollowedScores, kScores[i].name) != std::end(kFollowedScores))
      scores += fmt::format("{:18} {}; even attention scores {}, the ceiling is 1\n", kScores[i].name,
                            kScores[i].definition, decimals(chance[i], 3));
  return fmt::format("{}: how its heads formed, by evaluations up to step {}\n\n", name, report.last_step) +
         table.text() + "\nthe order in which scores and losses moved\n\n" + order_text(report) +
         left_out_text({&report, 1}) + "\n" + definitions_text() + scores;
}

std::string quartiles_text(std::span<const FormationReport> reports) {
  TextTable table({"measure", "runs", "lower quartile", "median", "upper quartile"});
  for (const auto& [name, quartiles] : summary_of(reports))
    table.add({name, fmt::format("{}/{}", quartiles.known, quartiles.runs), text_of(quartiles.lower),
               text_of(quartiles.median), text_of(quartiles.upper)});
  const auto formed = std::ranges::count_if(
      reports, [](const FormationReport& report) { return report.formation.half.has_value(); });
  return fmt::format(
             "{} of {} runs formed (accuracy on induction positions above 50 %), {}; what a run had not done "
             "ranks above all that did it\n\n",
             formed, reports.size(), last_steps_text(reports)) +
         table.text();
}

std::string formations_text(std::span<const std::string> names, std::span<const FormationReport> reports) {
  return "when copying was learnt, by evaluations\n\n" + runs_table(names, reports, kFormationColumns) +
         "\nsteps at which scores and losses moved\n\n" + runs_table(names, reports, kMoveColumns) +
         left_out_text(reports) + "\n" + quartiles_text(reports) + "\n" + definitions_text();
}

}  // namespace tapehead::app
