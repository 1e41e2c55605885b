#include "tapehead/study/sweep_folder.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tapehead/base/require.h"
#include "tapehead/study/sweep.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

fs::path table_in(const fs::path& folder) { return folder / fmt::format("{}.csv", kSweepTable); }

/// Beyond it no run goes: a step of the table is a whole number.
constexpr double kMostSteps = 1e15;

bool is_step(double value) { return value >= 0 && value <= kMostSteps && value == std::floor(value); }

}  // namespace

bool SweepFolder::stands_at(const fs::path& path) { return fs::is_regular_file(table_in(path)); }

SweepFolder SweepFolder::open(const fs::path& path) {
  if (!stands_at(path))
    throw UsageError(
        fmt::format("[sweep] {} is not a sweep: it has no {}.csv; make one with `tapehead sweep CONFIG`",
                    path.string(), kSweepTable));
  return {path, CsvTable::read(table_in(path))};
}

SweepFolder::SweepFolder(fs::path path, CsvTable table) : path_(std::move(path)), table_(std::move(table)) {
  for (Index row = 0; row < table_.rows(); ++row)
    if (table_.cell(row, "status") == name_of(RunStatus::finished)) finished_.push_back(row);
  std::set<std::string> names;
  for (const Index row : finished_)
    require(names.insert(table_.cell(row, "run")).second,
            "[sweep] {}: expected each run once, got {} again in row {}", table_in(path_).string(),
            table_.cell(row, "run"), row + 1);
  require(!finished_.empty(), "[sweep] {}: expected at least one finished run, got none of {}",
          table_in(path_).string(), table_.rows());
  // A field's name is its table's and its key; no other column has such a name.
  for (const std::string& column : table_.columns())
    if (column.find('.') != std::string::npos) axes_.push_back(column);
  for (const Index row : finished_) {
    GridPoint point;
    for (const std::string& axis : axes_) point.push_back({axis, table_.cell(row, axis)});
    auto group = std::ranges::find(groups_, point, &Group::point);
    if (group == groups_.end()) group = groups_.insert(group, {point, {}});
    group->rows.push_back(row);
  }
}

std::string SweepFolder::name() const {
  return fs::absolute(path_ / "").lexically_normal().parent_path().filename().string();
}

bool SweepFolder::can_form() const {
  return std::ranges::all_of(finished_, [&](Index row) { return !table_.cell(row, "formed").empty(); });
}

std::vector<Censored> SweepFolder::halves(const std::vector<Index>& rows) const {
  std::vector<Censored> halves;
  for (const Index row : rows) {
    const double step = table_.number(row, "step");
    const double half = table_.number(row, "half");
    require(is_step(step) && (std::isnan(half) || (is_step(half) && half <= step)),
            "[sweep] {}: expected steps in row {}, got {} as half and {} as the last",
            table_in(path_).string(), row + 1, table_.cell(row, "half"), table_.cell(row, "step"));
    halves.push_back({{}, static_cast<Index>(step)});
    if (!std::isnan(half)) halves.back().value = half;
  }
  return halves;
}

std::vector<RunDirectory> SweepFolder::runs(const std::vector<Index>& rows) const {
  std::vector<RunDirectory> runs;
  for (const Index row : rows) runs.push_back(RunDirectory::open(path_ / table_.cell(row, "run")));
  return runs;
}

}  // namespace tapehead
