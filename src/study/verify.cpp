#include "tapehead/study/verify.h"

#include <stdlib.h>

#include <algorithm>
#include <array>

#include "tapehead/base/require.h"
#include "tapehead/study/remade_table.h"
#include "tapehead/study/replay.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

/// Tables that a training writes, from the first step to the last.
constexpr std::array<std::string_view, 3> kOfTraining{"metrics", "heads", "floors"};

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

Verified verified_table(const RunDirectory& run, std::string_view name, const CsvTable& recomputed,
                        const VerifyOptions& options) {
  // The one column that a clock writes.
  const Comparison comparison =
      compare(CsvTable::read(run.table_file(name)), recomputed, options.tolerance, {"seconds"});
  return {file_name(name), comparison.cells, comparison.differences};
}

Verified verified_checkpoints(const RunDirectory& run, const Replay& replayed) {
  Verified result{"checkpoints"};
  result.cells = static_cast<Index>(replayed.compared.size());
  for (const Index step : replayed.different)
    result.differences.push_back(
        {fmt::format("step {}", step), "other parameters, averages or config", "these"});
  const std::vector<Index> steps = run.checkpoint_steps();
  if (steps.size() > replayed.compared.size())
    result.left_out =
        fmt::format("{} that the training did not come by", steps.size() - replayed.compared.size());
  return result;
}

void verify_training(const RunDirectory& run, const VerifyOptions& options, std::vector<Verified>& all) {
  const TemporaryFolder folder;
  const Replay replayed =
      replay(run, folder.path() / "run",
             {.threads = options.threads, .stepped = options.stepped, .should_stop = options.should_stop});
  require(replayed.is_whole, "[verify] stopped before the end; nothing was changed");
  const RunDirectory again = RunDirectory::open(folder.path() / "run");
  for (const std::string_view name : kOfTraining) {
    if (!fs::exists(run.table_file(name))) continue;
    all.push_back(fs::exists(again.table_file(name))
                      ? verified_table(run, name, CsvTable::read(again.table_file(name)), options)
                      : Verified{file_name(name), 0, {}, "the training does not write it"});
  }
  all.push_back(verified_checkpoints(run, replayed));
}

}  // namespace

std::vector<Verified> verify(const RunDirectory& run, const VerifyOptions& options) {
  std::vector<Verified> all;
  verify_training(run, options, all);
  for (const std::string_view name : kRunTables) {
    if (std::ranges::find(kOfTraining, name) != kOfTraining.end() || !fs::exists(run.table_file(name)))
      continue;
    const CsvTable there = CsvTable::read(run.table_file(name));
    const std::optional<CsvTable> recomputed = remade_table(run, name, there, options.threads);
    all.push_back(recomputed ? verified_table(run, name, *recomputed, options)
                             : Verified{file_name(name), 0, {}, "it cannot be made from this run alone"});
  }
  return all;
}

}  // namespace tapehead
