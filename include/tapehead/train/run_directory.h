/// The folder that holds a run: config.toml, metrics.csv, heads.csv, checkpoints/, for texts tokenizer/, and
/// what is made from them later.
///
/// Whoever trains holds the run's lock, so that no two programs write into one run; readers need none. The
/// lock goes with its program, however that ends.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tapehead/base/file.h"
#include "tapehead/train/config.h"

namespace tapehead {

class RunDirectory {
 public:
  /// A new run, locked: makes the folder, calls `fill` for what has to be there before it counts as a run,
  /// and writes the resolved config. Throws UsageError if there is something at that path, unless `overwrite`
  /// is set and what is there is a run, whose files are then removed; and if another program writes into it.
  static RunDirectory create(const std::filesystem::path& path, const Config& config, bool overwrite,
                             const std::function<void(const RunDirectory&)>& fill = {});
  /// A run that is there. Throws UsageError where there is none.
  static RunDirectory open(const std::filesystem::path& path);
  /// The same to go on writing into it, locked; what a killed writer left half-done is removed. Throws
  /// UsageError if another program writes into it.
  static RunDirectory open_for_writing(const std::filesystem::path& path);

  /// Throws Error if the run that this one is locked for was removed, or another put in its place.
  void require_held() const;

  const std::filesystem::path& path() const { return path_; }
  const Config& config() const { return config_; }
  std::filesystem::path metrics_file() const { return path_ / "metrics.csv"; }
  std::filesystem::path heads_file() const { return path_ / "heads.csv"; }
  std::filesystem::path ablation_file() const { return path_ / "ablation.csv"; }
  std::filesystem::path figures_folder() const { return path_ / "figures"; }
  std::filesystem::path tokenizer_folder() const { return path_ / "tokenizer"; }
  std::filesystem::path checkpoint_file(Index step) const;
  /// The steps of the checkpoints that are there, in order.
  std::vector<Index> checkpoint_steps() const;
  /// The newest checkpoint's file. Throws Error if there is none yet.
  std::filesystem::path latest_checkpoint() const;

 private:
  RunDirectory(std::filesystem::path path, Config config, std::shared_ptr<const Descriptor> lock = nullptr);

  std::filesystem::path path_;
  Config config_;
  std::shared_ptr<const Descriptor> lock_;
};

}  // namespace tapehead
