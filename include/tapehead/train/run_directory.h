/// The folder that holds a run: config.toml, tables, checkpoints/, for texts tokenizer/, for forks
/// parent.toml, and what is made from them later.
///
/// Whoever trains holds the run's lock, so that no two programs write into one run; readers need none. The
/// lock goes with its program, however that ends.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/train/config.h"
#include "tapehead/train/folder_lock.h"
#include "tapehead/train/parent.h"

namespace tapehead {

/// Every table that a run's folder can hold, NAME.csv each.
inline constexpr std::array<std::string_view, 18> kRunTables{
    "metrics",       // a row an evaluation: losses, accuracy, rates
    "heads",         // a row a head and evaluation: its scores
    "floors",        // what the best predictors of a kind lose on the evaluation batch
    "formation",     // when the heads formed, and the bump
    "scores",        // a row a head and period, of the trained and of the untrained model
    "ablation",      // a row an ablation
    "subsets",       // a row a set of a layer's heads, ablated together
    "shapley",       // a row a head: its share in what its layer does
    "interactions",  // a row a pair of a layer's heads
    "patching",      // a row a place that was patched
    "circuits",      // a row a head: what its weights do
    "composition",   // a row a pair of heads and way to compose
    "eigenvalues",   // a row an eigenvalue of a head's circuit
    "attribution",   // a row a component: its part of the right token's logit
    "lens",          // a row a layer: the losses when the stream is read out there
    "context",       // a row a checkpoint and band of positions: its loss, and the in-context score
    "verdict",       // a row a piece of evidence
    "sweep",         // in a sweep's folder: a row a run
};

/// Of these, the one of a folder of runs.
inline constexpr std::string_view kSweepTable = "sweep";
/// Of these, what a training writes itself, from the first step to the last.
inline constexpr std::array<std::string_view, 3> kTablesOfTraining{"metrics", "heads", "floors"};
constexpr bool is_of_training(std::string_view table) {
  return std::ranges::find(kTablesOfTraining, table) != kTablesOfTraining.end();
}

/// In a run's folder: the run of its one-layer twin.
inline constexpr std::string_view kTwinFolder = "one-layer-twin";
/// In a run's folder: the page that shows all of it.
inline constexpr std::string_view kPageFile = "report.html";
/// Names a fork's parent.
inline constexpr std::string_view kParentFile = "parent.toml";

class RunDirectory {
 public:
  /// A new run, locked: makes the folder, calls `fill` for what has to be there before it counts as a run,
  /// and writes the resolved config. Throws UsageError if there is something at that path, unless `overwrite`
  /// is set and what is there is a run, whose files are then removed; and if another program writes into it.
  static RunDirectory create(const std::filesystem::path& path, const Config& config, bool overwrite,
                             const std::function<void(const RunDirectory&)>& fill = {});
  /// Whether there is one to open.
  static bool stands_at(const std::filesystem::path& path);
  /// A run that is there. Throws UsageError where there is none.
  static RunDirectory open(const std::filesystem::path& path);
  /// The same to go on writing into it, locked; what a killed writer left half-done is removed. Throws
  /// UsageError if another program writes into it.
  static RunDirectory open_for_writing(const std::filesystem::path& path);

  /// Throws Error if the run that this one is locked for was removed, or another put in its place.
  void require_held() const;
  /// Throws UsageError if somebody else writes into it.
  void require_no_writer() const;

  const std::filesystem::path& path() const { return path_; }
  const Config& config() const { return config_; }
  /// Where a table of kRunTables stands, or would. Throws InternalError for another name.
  std::filesystem::path table_file(std::string_view name) const;
  std::filesystem::path parent_file() const { return path_ / kParentFile; }
  /// The run that this one is a fork of, if it is one.
  std::optional<Parent> parent() const { return read_parent(parent_file()); }
  std::filesystem::path metrics_file() const { return table_file("metrics"); }
  std::filesystem::path heads_file() const { return table_file("heads"); }
  std::filesystem::path figures_folder() const { return path_ / "figures"; }
  std::filesystem::path page_file() const { return path_ / kPageFile; }
  std::filesystem::path tokenizer_folder() const { return path_ / "tokenizer"; }
  std::filesystem::path checkpoint_file(Index step) const;
  /// The steps of the checkpoints that are there, in order.
  std::vector<Index> checkpoint_steps() const;
  /// The newest checkpoint's step, and its file. They throw Error if there is none yet.
  Index latest_step() const;
  std::filesystem::path latest_checkpoint() const { return checkpoint_file(latest_step()); }

 private:
  RunDirectory(std::filesystem::path path, Config config, std::shared_ptr<const FolderLock> lock = nullptr);

  std::filesystem::path path_;
  Config config_;
  std::shared_ptr<const FolderLock> lock_;
};

}  // namespace tapehead
