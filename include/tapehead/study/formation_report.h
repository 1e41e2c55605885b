/// All there is to say of when a run's heads formed, as named numbers, and the same over several runs.
///
/// A number without a value has not happened by the run's last evaluation: it is censored there, and counts.
/// Numbers that cannot be known, because a run lacks a column, are left out and named.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/study/censored.h"
#include "tapehead/study/formation.h"
#include "tapehead/study/formation_order.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

struct Measure {
  std::string name;
  std::optional<double> value = {};
};

struct FormationReport {
  Index last_step = 0;
  Formation formation = {};
  std::vector<Move> moves = {};            ///< scores, then losses
  std::vector<Measure> measures = {};      ///< in the order of the tables
  std::vector<std::string> left_out = {};  ///< scores that the head table lacks

  /// A measure's value; none for what is censored and for what is left out.
  std::optional<double> value(std::string_view name) const;
  bool has(std::string_view name) const;
};

/// What each measure says, in a line; those that begin with a prefix share one.
struct MeasureDefinition {
  std::string_view name;
  std::string_view definition;
};
std::span<const MeasureDefinition> measure_definitions();

/// From a run's tables; `heads` has no rows where there are none. Throws Error for metrics without rows.
FormationReport formation_report(const CsvTable& metrics, const CsvTable& heads);

/// Of a run on disk. Throws UsageError for a task in which nothing is copied, Error for a run without
/// metrics.
FormationReport formation_report(const RunDirectory& run);

/// One row a report: step (of the last evaluation), every measure that all reports have, and which head each
/// score was followed in. With `names`, one for each report, they are the first column, `run`.
CsvTable formation_table(std::span<const FormationReport> reports, std::span<const std::string> names = {});

struct MeasureQuartiles {
  std::string name;
  CensoredQuartiles quartiles;
};

/// Over reports, every measure that all of them have. Throws Error for none.
std::vector<MeasureQuartiles> summary_of(std::span<const FormationReport> reports);

/// The fields, but for the seeds of weights, data and dropout, in which some run's config differs from the
/// first one's.
std::vector<std::string> differing_fields_but_seeds(std::span<const Config> configs);

}  // namespace tapehead
