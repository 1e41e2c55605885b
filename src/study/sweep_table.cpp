#include "tapehead/study/sweep_table.h"

#include <array>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/train/run_tables.h"

namespace tapehead {

namespace {

constexpr std::array kFormation{"onset", "half", "done", "width"};
constexpr std::array kFinal{"final_loss", "final_loss_induction", "final_loss_noise",
                            "final_accuracy_induction"};

constexpr std::array kChanges{"change_without_previous_token", "change_without_induction", "largest_change"};

std::vector<std::string> columns(const GridPoint& point) {
  std::vector<std::string> columns{"run", "setting"};
  for (const GridValue& value : point) columns.push_back(value.field);
  columns.insert(columns.end(), {"seed", "status", "step", "formed"});
  columns.insert(columns.end(), kFormation.begin(), kFormation.end());
  columns.insert(columns.end(), kFinal.begin(), kFinal.end());
  for (const std::string_view score : kFollowedScores) columns.push_back(fmt::format("highest_{}", score));
  columns.insert(columns.end(), kChanges.begin(), kChanges.end());
  return columns;
}

std::string step_cell(const std::optional<double>& step) {
  return step ? fmt::format("{:.0f}", *step) : std::string();
}

std::string number_cell(const std::optional<double>& number) {
  return csv_cell(number.value_or(std::nan("")));
}

std::vector<std::string> row_of(const Setting& setting, const SweepResult& result,
                                const std::optional<RunReport>& report, const std::filesystem::path& folder) {
  const FormationReport* formation = report ? &report->formation : nullptr;
  const bool forms = task_kind(setting.config.task.name).repeats && report;
  const auto value = [&](std::string_view name) { return report ? formation->value(name) : std::nullopt; };
  const auto number = [&](std::string_view name) { return number_cell(value(name)); };
  std::vector<std::string> row{setting.path.lexically_relative(folder).generic_string(),
                               table_cell(setting.point)};
  for (const GridValue& place : setting.point) row.push_back(table_cell(place));
  row.push_back(std::to_string(setting.config.train.initialisation_seed));
  row.emplace_back(name_of(result.status));
  row.push_back(report ? std::to_string(formation->last_step) : "");
  row.emplace_back(!forms ? "" : formation->formation.half ? "1" : "0");
  for (const char* name : kFormation) row.push_back(forms ? step_cell(value(name)) : "");
  for (const char* name : kFinal) row.push_back(number(name));
  for (const std::string_view score : kFollowedScores)
    row.push_back(number(fmt::format("highest_{}", score)));
  const AblationChanges changes = report ? report->ablation : AblationChanges{};
  for (const auto& change : {changes.without_previous_token, changes.without_induction, changes.largest})
    row.push_back(number_cell(change));
  return row;
}

}  // namespace

std::vector<std::optional<RunReport>> sweep_reports(std::span<const Setting> settings) {
  std::vector<std::optional<RunReport>> reports;
  for (const Setting& setting : settings) {
    reports.emplace_back();
    if (!RunDirectory::stands_at(setting.path)) continue;
    const RunDirectory run = RunDirectory::open(setting.path);
    const CsvTable metrics = whole_metrics(run);
    if (metrics.rows() == 0) continue;
    RunReport report{formation_report(metrics, whole_heads(run)), {}};
    report.ablation = ablation_changes(run, report.formation);
    reports.back() = std::move(report);
  }
  return reports;
}

CsvTable sweep_table(std::span<const Setting> settings, std::span<const SweepResult> results,
                     std::span<const std::optional<RunReport>> reports, const std::filesystem::path& folder) {
  ensure(settings.size() == results.size() && settings.size() == reports.size(),
         "a sweep of {} runs has {} results and {} reports", settings.size(), results.size(), reports.size());
  CsvTable table(columns(settings.empty() ? GridPoint{} : settings.front().point));
  for (std::size_t i = 0; i < settings.size(); ++i)
    table.add(row_of(settings[i], results[i], reports[i], folder));
  return table;
}

}  // namespace tapehead
