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

std::vector<std::string> columns() {
  std::vector<std::string> columns{"run", "seed", "status", "step", "formed"};
  columns.insert(columns.end(), kFormation.begin(), kFormation.end());
  columns.insert(columns.end(), kFinal.begin(), kFinal.end());
  for (const std::string_view score : kFollowedScores) columns.push_back(fmt::format("highest_{}", score));
  return columns;
}

std::string step_cell(const std::optional<double>& step) {
  return step ? fmt::format("{:.0f}", *step) : std::string();
}

std::vector<std::string> row_of(const Setting& setting, const SweepResult& result,
                                const std::optional<FormationReport>& report) {
  const bool forms = task_kind(setting.config.task.name).repeats && report.has_value();
  const auto value = [&](std::string_view name) { return report ? report->value(name) : std::nullopt; };
  const auto number = [&](std::string_view name) { return csv_cell(value(name).value_or(std::nan(""))); };
  std::vector<std::string> row{
      setting.path.filename().string(), std::to_string(setting.config.train.initialisation_seed),
      std::string(name_of(result.status)), report ? std::to_string(report->last_step) : "",
      !forms                   ? ""
      : report->formation.half ? "1"
                               : "0"};
  for (const char* name : kFormation) row.push_back(forms ? step_cell(value(name)) : "");
  for (const char* name : kFinal) row.push_back(number(name));
  for (const std::string_view score : kFollowedScores)
    row.push_back(number(fmt::format("highest_{}", score)));
  return row;
}

}  // namespace

std::vector<std::optional<FormationReport>> sweep_reports(std::span<const Setting> settings) {
  std::vector<std::optional<FormationReport>> reports;
  for (const Setting& setting : settings) {
    reports.emplace_back();
    if (!RunDirectory::stands_at(setting.path)) continue;
    const RunDirectory run = RunDirectory::open(setting.path);
    if (const CsvTable metrics = whole_metrics(run); metrics.rows() > 0)
      reports.back() = formation_report(metrics, whole_heads(run));
  }
  return reports;
}

CsvTable sweep_table(std::span<const Setting> settings, std::span<const SweepResult> results,
                     std::span<const std::optional<FormationReport>> reports) {
  ensure(settings.size() == results.size() && settings.size() == reports.size(),
         "a sweep of {} runs has {} results and {} reports", settings.size(), results.size(), reports.size());
  CsvTable table(columns());
  for (std::size_t i = 0; i < settings.size(); ++i) table.add(row_of(settings[i], results[i], reports[i]));
  return table;
}

}  // namespace tapehead
