/// A sweep that was run, as its folder tells: sweep.csv, and a run's folder beside it for each of its rows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tapehead/study/censored.h"
#include "tapehead/study/grid.h"
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
  /// The fields that its grid sweeps; none for a sweep over seeds alone.
  const std::vector<std::string>& axes() const { return axes_; }

  /// The runs of one setting, as rows of the table.
  struct Group {
    GridPoint point;  ///< values as the table has them
    std::vector<Index> rows;
  };
  /// The finished runs by their setting, in the table's order; of a sweep over seeds alone one group.
  const std::vector<Group>& groups() const { return groups_; }

  /// When the accuracy on induction positions was above 50 %, of each finished run; of one that did not get
  /// there, that it had not by its last step. Throws Error for cells that are no steps.
  std::vector<Censored> halves() const { return halves(finished_); }
  std::vector<Censored> halves(const std::vector<Index>& rows) const;
  /// The finished runs themselves. Throws UsageError for one that is gone.
  std::vector<RunDirectory> runs() const { return runs(finished_); }
  std::vector<RunDirectory> runs(const std::vector<Index>& rows) const;

 private:
  SweepFolder(std::filesystem::path path, CsvTable table);

  std::filesystem::path path_;
  CsvTable table_;
  std::vector<Index> finished_;  // rows
  std::vector<std::string> axes_;
  std::vector<Group> groups_;
};

}  // namespace tapehead
