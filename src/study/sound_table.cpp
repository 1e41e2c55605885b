#include "tapehead/study/sound_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/ablation.h"
#include "tapehead/interp/attribution.h"
#include "tapehead/interp/circuit_tables.h"
#include "tapehead/interp/context_score.h"
#include "tapehead/interp/lens.h"
#include "tapehead/interp/patching.h"
#include "tapehead/interp/period_scores.h"
#include "tapehead/interp/subsets.h"
#include "tapehead/study/evidence.h"
#include "tapehead/study/formation_report.h"
#include "tapehead/study/scored_run.h"
#include "tapehead/train/floor_table.h"
#include "tapehead/train/run_tables.h"

namespace tapehead {

namespace {

/// Columns of names, in whichever table.
constexpr std::array<std::string_view, 18> kNames{
    "kind", "component", "composition", "circuit", "predictor", "site",  "by",      "to",      "position",
    "role", "heads",     "model",       "periods", "evidence",  "holds", "must_be", "verdict", "twin"};
/// What stands in columns of numbers for a place that has none.
constexpr std::array<std::string_view, 3> kPlaces{"all", "final", "feed_forward"};

bool may_hold(std::string_view column, const std::string& cell) {
  return cell.empty() || std::ranges::find(kPlaces, cell) != kPlaces.end() || column.starts_with("head_") ||
         std::ranges::find(kNames, column) != kNames.end();
}

/// One past the highest number of a layer, or of a head; lens.csv has a row for the stream after the last.
std::optional<Index> end_of(std::string_view column, const ModelConfig& model) {
  if (column == "layer" || column == "earlier_layer") return model.layers + 1;
  if (column == "head" || column == "earlier_head" || column == "first" || column == "second")
    return model.heads;
  return std::nullopt;
}

void require_numbers(const CsvTable& table, const ModelConfig& model) {
  for (const std::string& column : table.columns()) {
    const std::optional<Index> end = end_of(column, model);
    for (Index row = 0; row < table.rows(); ++row) {
      const std::string& cell = table.cell(row, column);
      const std::optional<double> value = number_in(cell);
      require(value || may_hold(column, cell), "[table] {}: expected a number in column {} of row {}, got {}",
              table.file().string(), column, row + 1, quoted_name(cell));
      require(!value || !end || (*value >= 0 && *value < static_cast<double>(*end)),
              "[table] {}: expected a {} that the model has in row {}, got {}", table.file().string(), column,
              row + 1, cell);
    }
  }
}

using Columns = std::vector<std::string>;

/// The columns that this program gives a table: those of one without rows.
struct Layout {
  std::string_view table;
  Columns (*columns)(const RunDirectory& run);
};

constexpr std::array kLayouts{
    Layout{"heads", [](const RunDirectory&) { return head_columns(); }},
    Layout{
        "formation",
        [](const RunDirectory& run) { return formation_table(std::array{formation_report(run)}).columns(); }},
    Layout{"scores", [](const RunDirectory&) { return period_table({}, {}).columns(); }},
    Layout{"ablation", [](const RunDirectory&) { return ablation_table({}, 0, 0).columns(); }},
    Layout{"subsets", [](const RunDirectory&) { return subsets_table({}, 0, 0).columns(); }},
    Layout{"shapley", [](const RunDirectory&) { return shapley_table({}, 0, 0).columns(); }},
    Layout{"interactions", [](const RunDirectory&) { return interactions_table({}, 0, 0).columns(); }},
    Layout{"patching", [](const RunDirectory&) { return patching_table({}, {}, 0).columns(); }},
    Layout{"circuits", [](const RunDirectory&) { return circuit_table({}, 0, 0).columns(); }},
    Layout{"composition", [](const RunDirectory&) { return composition_table({}, 0, 0).columns(); }},
    Layout{"eigenvalues", [](const RunDirectory&) { return eigenvalue_table({}, 0, 0).columns(); }},
    Layout{"attribution", [](const RunDirectory&) { return attribution_table({}, 0, 0).columns(); }},
    Layout{"lens", [](const RunDirectory&) { return lens_table({}, 0).columns(); }},
    Layout{"context", [](const RunDirectory&) { return context_table({}, 0, {}).columns(); }},
    Layout{"verdict", [](const RunDirectory&) { return verdict_table({}, 0, 0).columns(); }},
};

void require_columns(const RunDirectory& run, const CsvTable& table, std::string_view name) {
  const auto* layout = std::ranges::find(kLayouts, name, &Layout::table);
  if (layout == kLayouts.end()) return;  // who reads it knows its columns
  const Columns columns = layout->columns(run);
  require(table.columns() == columns, "[table] {}: expected the columns {}, got {}", table.file().string(),
          fmt::join(columns, ","), quoted_name(fmt::format("{}", fmt::join(table.columns(), ","))));
}

}  // namespace

CsvTable sound_table(const RunDirectory& run, std::string_view name) {
  const std::filesystem::path file = run.table_file(name);
  if (!std::filesystem::exists(file)) return CsvTable({});
  CsvTable table = name == "metrics" ? whole_metrics(run)
                   : name == "heads" ? whole_heads(run)
                                     : CsvTable::read(file);
  require_columns(run, table, name);
  require_numbers(table, run.config().model);
  return table;
}

}  // namespace tapehead
