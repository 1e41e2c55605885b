#include "tapehead/study/verify.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>

#include "tapehead/base/require.h"
#include "tapehead/study/remade_table.h"
#include "tapehead/study/replay.h"
#include "tapehead/study/twin.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

/// The one column that a clock writes.
constexpr const char* kOfAClock = "seconds";

/// A folder that is gone with this object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tapehead-verify-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "[verify] cannot make a folder {}", name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string file_name(std::string_view table) { return std::string(table) + ".csv"; }

/// Whose what a replay began with is, if not the run's own.
std::string owner_of_start(const RunDirectory& run, Index step) {
  if (const auto parent = run.parent())
    return fmt::format("its parent's; verify {} too",
                       (run.path() / parent->path).lexically_normal().string());
  return step == 0 ? "an imported model's" : "no checkpoint before it is there";
}

/// The rows of a table up to a step.
CsvTable rows_until(CsvTable table, Index step) {
  table.drop_above("step", static_cast<double>(step));
  return table;
}

/// Of a fork whose parent is there: the parent's rows up to the fork, which it began with.
std::optional<CsvTable> rows_of_parent(const RunDirectory& run, std::string_view name, Index step) {
  const std::optional<Parent> parent = run.parent();
  if (!parent || !RunDirectory::stands_at(run.path() / parent->path)) return std::nullopt;
  // A run without patterns has no scores of heads, not even its parent's.
  if (name == "heads" && !holds_patterns(run.config().model)) return std::nullopt;
  const fs::path file = RunDirectory::open(run.path() / parent->path).table_file(name);
  if (!fs::exists(file)) return std::nullopt;
  return rows_until(CsvTable::read(file), step);
}

Verified verified_table(std::string_view name, const CsvTable& there, const CsvTable& recomputed,
                        const VerifyOptions& options) {
  Comparison comparison = compare(there, recomputed, options.tolerance);
  return {file_name(name), comparison.cells, std::move(comparison.differences)};
}

/// metrics.csv or heads.csv.
Verified verified_evaluations(const RunDirectory& run, std::string_view name, CsvTable recomputed,
                              const Replay& replayed, const VerifyOptions& options) {
  const CsvTable there = CsvTable::read(run.table_file(name));
  // A program that died may have left the rows of its last evaluation in one table, and not yet in the other.
  const double last_row = there.rows() == 0 ? 0 : there.number(there.rows() - 1, "step");
  recomputed.drop_above("step", std::fmax(last_row, static_cast<double>(run.latest_step())));
  Verified result{file_name(name)};
  const auto add = [&](const Comparison& comparison) {
    result.cells += comparison.cells;
    result.differences.insert(result.differences.end(), comparison.differences.begin(),
                              comparison.differences.end());
  };
  Index given_rows = 0;
  // A run that begins at step 0 begins its tables there.
  if (const Index given = replayed.given.value_or(0); given > 0) {
    given_rows = std::ranges::count_if(recomputed.numbers("step"),
                                       [&](double step) { return step <= static_cast<double>(given); });
    result.left_out = fmt::format("rows up to step {}: {}", given, owner_of_start(run, given));
    if (const auto theirs = rows_of_parent(run, name, given))
      add(compare(rows_until(there, given), *theirs, 0, {kOfAClock}));
  }
  add(compare(there, recomputed, options.tolerance, {kOfAClock}, given_rows));
  return result;
}

Verified verified_checkpoints(const RunDirectory& run, const Replay& replayed) {
  Verified result{"checkpoints"};
  result.cells = static_cast<Index>(replayed.compared.size()) - (replayed.given ? 1 : 0);
  for (const auto& [step, what] : replayed.different)
    result.differences.push_back({fmt::format("step {}", step), what, "these"});
  std::vector<std::string> left_out;
  if (replayed.given)
    left_out.push_back(fmt::format("step {}: {}", *replayed.given, owner_of_start(run, *replayed.given)));
  if (const std::size_t steps = run.checkpoint_steps().size(); steps > replayed.compared.size())
    left_out.push_back(fmt::format("{} that the training did not come by", steps - replayed.compared.size()));
  if (!replayed.missing.empty())
    left_out.push_back(
        fmt::format("not there, as they should be: step {}", fmt::join(replayed.missing, ", ")));
  result.left_out = fmt::format("{}", fmt::join(left_out, "; "));
  return result;
}

/// What `verified` gives, or why it gives nothing.
template <class Verify>
Verified verified_or_failure(const std::string& file, const Verify& verified) {
  try {
    return verified();
  } catch (const Error& error) {
    return {.what = file, .failure = error.what()};
  } catch (const std::bad_alloc&) {
    return {.what = file, .failure = "there is not enough memory"};
  }
}

/// A run that has been trained has every table of the training.
Verified missing_table(const RunDirectory& run, std::string_view name) {
  if (run.latest_step() == 0) return {file_name(name), 0, {}, "the run has none yet"};
  return {file_name(name), 0, {{"the whole table", "nothing", "numbers"}}};
}

Verified verified_training_table(const RunDirectory& run, const RunDirectory& again, std::string_view name,
                                 const Replay& replayed, const VerifyOptions& options) {
  if (!fs::exists(again.table_file(name))) return {file_name(name), 0, {}, "the training does not write it"};
  if (!fs::exists(run.table_file(name))) return missing_table(run, name);
  CsvTable recomputed = CsvTable::read(again.table_file(name));
  return name == "floors" ? verified_table(name, CsvTable::read(run.table_file(name)), recomputed, options)
                          : verified_evaluations(run, name, std::move(recomputed), replayed, options);
}

void verify_training(const RunDirectory& run, const VerifyOptions& options, std::vector<Verified>& all) {
  const TemporaryFolder folder;
  const Replay replayed =
      replay(run, folder.path() / "run",
             {.threads = options.threads, .stepped = options.stepped, .should_stop = options.should_stop});
  require(replayed.is_whole, "[verify] stopped before the end; nothing was changed");
  const RunDirectory again = RunDirectory::open(folder.path() / "run");
  for (const std::string_view name : kTablesOfTraining)
    if (fs::exists(run.table_file(name)) || fs::exists(again.table_file(name)))
      all.push_back(verified_or_failure(
          file_name(name), [&] { return verified_training_table(run, again, name, replayed, options); }));
  all.push_back(verified_checkpoints(run, replayed));
}

/// A table that was made of the run's checkpoints.
Verified verified_analysis(const RunDirectory& run, std::string_view name, const VerifyOptions& options) {
  const std::string file = file_name(name);
  const CsvTable there = CsvTable::read(run.table_file(name));
  // A formation is one of the run, not of a checkpoint.
  if (there.rows() == 0 && name != "formation")
    return {file, 0, {}, "it has no rows, which would say of what it was made"};
  const std::optional<CsvTable> recomputed = remade_table(run, name, there, options.threads);
  if (!recomputed) return {file, 0, {}, "it cannot be made from this run alone"};
  Verified verified = verified_table(name, there, *recomputed, options);
  if (name == "verdict" && there.has("twin") && there.cell(0, "twin") == "yes")
    verified.left_out = fmt::format("its twin's training; verify {} too", twin_folder(run).string());
  return verified;
}

}  // namespace

std::vector<Verified> verify(const RunDirectory& run, const VerifyOptions& options) {
  run.require_no_writer();
  std::vector<Verified> all;
  verify_training(run, options, all);
  for (const std::string_view name : kRunTables)
    if (!is_of_training(name) && fs::exists(run.table_file(name)))
      all.push_back(
          verified_or_failure(file_name(name), [&] { return verified_analysis(run, name, options); }));
  return all;
}

}  // namespace tapehead
