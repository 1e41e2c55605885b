/// A sweep that was run, as its folder tells: sweep.csv, and a run's folder beside it for each of its rows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tapehead/study/censored.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

class SweepFolder {
 public:
  /// Whether there is one to open.
  static bool stands_at(const std::filesystem::path& path);
  /// Throws UsageError where there is no sweep.csv, and Error for one that cannot be read, in which no run is
  /// finished, or one twice.
  static SweepFolder open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// The folder's own name.
  std::string name() const;
  Index finished() const { return static_cast<Index>(finished_.size()); }
  /// Runs that failed or were stopped: nothing below tells of them.
  Index unfinished() const { return table_.rows() - finished(); }
  /// Whether its task has something to copy, so that heads can form.
  bool can_form() const;
  /// When the accuracy on induction positions was above 50 %, of each finished run; of one that did not get
  /// there, that it had not by its last step. Throws Error for cells that are no steps.
  std::vector<Censored> halves() const;
  /// The finished runs themselves. Throws UsageError for one that is gone.
  std::vector<RunDirectory> runs() const;

 private:
  SweepFolder(std::filesystem::path path, CsvTable table);

  std::filesystem::path path_;
  CsvTable table_;
  std::vector<Index> finished_;  // rows
};

}  // namespace tapehead
