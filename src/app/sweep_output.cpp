#include "tapehead/app/sweep_output.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "tapehead/app/formation_text.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/report/sweep_figures.h"
#include "tapehead/study/sweep_table.h"

namespace tapehead::app {

namespace {

namespace fs = std::filesystem;

std::string step_text(const Quantile& step) {
  return step.value ? decimals(*step.value, 0) : fmt::format("> {}", step.not_by);
}

double median_of(std::span<const FormationReport> reports, std::string_view name) {
  std::vector<Censored> values;
  for (const FormationReport& report : reports)
    if (const std::optional<double> value = report.value(name)) values.push_back({value, report.last_step});
  return values.empty() ? std::nan("") : quantile(values, 0.5).value.value_or(std::nan(""));
}

/// The finished runs of one setting.
struct Group {
  GridPoint point;
  bool copies;  ///< its task has something to copy
  std::vector<FormationReport> reports;
};

std::vector<Group> groups_of(const std::vector<Setting>& settings, const std::vector<SweepResult>& results,
                             const std::vector<std::optional<RunReport>>& reports) {
  std::vector<Group> groups;
  for (std::size_t run = 0; run < settings.size(); ++run) {
    if (results[run].status != RunStatus::finished || !reports[run]) continue;
    if (groups.empty() || groups.back().point != settings[run].point)
      groups.push_back({settings[run].point, task_kind(settings[run].config.task.name).repeats, {}});
    groups.back().reports.push_back(reports[run]->formation);
  }
  return groups;
}

/// A line a setting. What a run had not done by its last step ranks above all that did it.
std::string settings_text(const std::vector<Group>& groups) {
  const bool copies = std::ranges::any_of(groups, &Group::copies);
  TextTable table(copies ? std::vector<std::string>{"setting", "formed", "half at step", "lower quartile",
                                                    "upper quartile", "accuracy, induction", "loss"}
                         : std::vector<std::string>{"setting", "runs", "loss"});
  for (const Group& group : groups) {
    std::vector<Censored> halves;
    for (const FormationReport& report : group.reports)
      halves.push_back({report.value("half"), report.last_step});
    const CensoredQuartiles half = quartiles(halves);
    const std::string loss = decimals(median_of(group.reports, "final_loss"), 3);
    if (copies && !group.copies)
      table.add({in_words(group.point), "-", "-", "-", "-", "-", loss});
    else if (copies)
      table.add({in_words(group.point), fmt::format("{} of {}", half.known, half.runs),
                 step_text(half.median), step_text(half.lower), step_text(half.upper),
                 decimals(median_of(group.reports, "final_accuracy_induction"), 3), loss});
    else
      table.add({in_words(group.point), std::to_string(group.reports.size()), loss});
  }
  return table.text();
}

/// Says how many runs of the table that is there the new one does not have.
void warn_of_left_out(const fs::path& file, const CsvTable& rows) {
  if (!fs::exists(file)) return;
  std::set<std::string> runs;
  for (Index row = 0; row < rows.rows(); ++row) runs.insert(rows.cell(row, "run"));
  Index left_out = 0;
  try {
    const CsvTable there = CsvTable::read(file);
    for (Index row = 0; row < there.rows(); ++row) left_out += runs.contains(there.cell(row, "run")) ? 0 : 1;
  } catch (const Error&) {
    return;  // it is damaged, and replaced
  }
  if (left_out > 0)
    spdlog::warn("{} had {} run{} more, of another call; they stay where they are, and in no table",
                 file.string(), left_out, left_out == 1 ? "" : "s");
}

}  // namespace

void report_sweep(const std::vector<Setting>& settings, const std::vector<SweepResult>& results,
                  const fs::path& folder, bool others_go_on) {
  const std::vector<std::optional<RunReport>> reports = sweep_reports(settings);
  const fs::path table = folder / fmt::format("{}.csv", kSweepTable);
  const CsvTable rows = sweep_table(settings, results, reports, folder);
  warn_of_left_out(table, rows);
  rows.write(table);
  const std::vector<Group> groups = groups_of(settings, results, reports);
  if (groups.empty()) return;
  const auto finished = std::ranges::count(results, RunStatus::finished, &SweepResult::status);
  if (others_go_on && finished < std::ssize(results)) {
    spdlog::info("{} of {} runs are finished by now; whichever job comes last draws the figures", finished,
                 results.size());
    std::cout << table.string() << "\n";
    return;
  }
  if (!settings.front().point.empty())
    std::cout << settings_text(groups) << "\n";
  else if (groups.front().copies)
    std::cout << quartiles_text(groups.front().reports) << "\n";
  std::cout << table.string() << "\n";
  const std::vector<SweepFolder> sweep{SweepFolder::open(folder)};
  const DrawnFigures drawn = draw_sweeps(sweep, folder / "figures");
  for (const fs::path& figure : drawn.files) std::cout << figure.string() << "\n";
  for (const std::string& fault : drawn.faults) spdlog::warn(fault);
}

int status_of_sweep(const std::vector<Setting>& settings, const std::vector<SweepResult>& results) {
  const auto count = [&](RunStatus status) {
    return std::ranges::count(results, status, [](const SweepResult& result) { return result.status; });
  };
  for (std::size_t run = 0; run < results.size(); ++run)
    if (results[run].status == RunStatus::failed)
      spdlog::error("{}: {}", settings[run].path.string(), results[run].failure);
  if (const auto failed = count(RunStatus::failed); failed > 0)
    spdlog::error("{} of {} runs failed", failed, results.size());
  if (const auto stopped = count(RunStatus::stopped); stopped > 0)
    spdlog::warn(
        "stopped with {} of {} runs done, the others saved where they stood; the same command goes on",
        count(RunStatus::finished), results.size());
  return count(RunStatus::finished) == static_cast<std::ptrdiff_t>(results.size()) ? 0 : 1;
}

}  // namespace tapehead::app
