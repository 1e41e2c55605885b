#include "tapehead/app/sweep_output.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "tapehead/app/formation_text.h"
#include "tapehead/app/table.h"
#include "tapehead/report/sweep_figures.h"
#include "tapehead/study/sweep_table.h"

namespace tapehead::app {

namespace {

namespace fs = std::filesystem;

std::string step_text(const Quantile& step) {
  return step.value ? decimals(*step.value, 0) : fmt::format("> {}", step.not_by);
}

double median_of(std::span<const FormationReport> reports, std::string_view name) {
  std::vector<double> values;
  for (const FormationReport& report : reports)
    if (const std::optional<double> value = report.value(name)) values.push_back(*value);
  if (values.empty()) return std::nan("");
  std::ranges::sort(values);
  return 0.5 * (values[(values.size() - 1) / 2] + values[values.size() / 2]);
}

/// The finished runs of one setting.
struct Group {
  GridPoint point;
  std::vector<FormationReport> reports;
};

std::vector<Group> groups_of(const std::vector<Setting>& settings, const std::vector<SweepResult>& results,
                             const std::vector<std::optional<RunReport>>& reports) {
  std::vector<Group> groups;
  for (std::size_t run = 0; run < settings.size(); ++run) {
    if (results[run].status != RunStatus::finished || !reports[run]) continue;
    if (groups.empty() || groups.back().point != settings[run].point)
      groups.push_back({settings[run].point, {}});
    groups.back().reports.push_back(reports[run]->formation);
  }
  return groups;
}

/// A line a setting. What a run had not done by its last step ranks above all that did it.
std::string settings_text(const std::vector<Group>& groups, bool copies) {
  TextTable table(copies ? std::vector<std::string>{"setting", "formed", "half at step", "lower quartile",
                                                    "upper quartile", "accuracy, induction", "loss"}
                         : std::vector<std::string>{"setting", "runs", "loss"});
  for (const Group& group : groups) {
    std::vector<Censored> halves;
    for (const FormationReport& report : group.reports)
      halves.push_back({report.value("half"), report.last_step});
    const CensoredQuartiles half = quartiles(halves);
    const std::string loss = decimals(median_of(group.reports, "final_loss"), 3);
    if (copies)
      table.add({in_words(group.point), fmt::format("{} of {}", half.known, half.runs),
                 step_text(half.median), step_text(half.lower), step_text(half.upper),
                 decimals(median_of(group.reports, "final_accuracy_induction"), 3), loss});
    else
      table.add({in_words(group.point), std::to_string(group.reports.size()), loss});
  }
  return table.text();
}

}  // namespace

void report_sweep(const std::vector<Setting>& settings, const std::vector<SweepResult>& results,
                  const fs::path& folder, bool others_go_on) {
  const std::vector<std::optional<RunReport>> reports = sweep_reports(settings);
  const fs::path table = folder / fmt::format("{}.csv", kSweepTable);
  sweep_table(settings, results, reports, folder).write(table);
  const std::vector<Group> groups = groups_of(settings, results, reports);
  if (groups.empty()) return;
  const auto finished = std::ranges::count(results, RunStatus::finished, &SweepResult::status);
  if (others_go_on && finished < std::ssize(results)) {
    spdlog::info("{} of {} runs are finished by now; whichever job comes last draws the figures", finished,
                 results.size());
    std::cout << table.string() << "\n";
    return;
  }
  const bool copies = task_kind(settings.front().config.task.name).repeats;
  if (!settings.front().point.empty())
    std::cout << settings_text(groups, copies) << "\n";
  else if (copies)
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
