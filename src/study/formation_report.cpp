#include "tapehead/study/formation_report.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/train/config_fields.h"
#include "tapehead/train/run_tables.h"

namespace tapehead {

namespace {

constexpr MeasureDefinition kDefinitions[] = {
    {"onset", "first evaluation with an accuracy on induction positions above 10 %"},
    {"half", "first above 50 %: the run counts as formed"},
    {"done", "first above 90 %"},
    {"width", "steps from onset to done"},
    {"steepest", "the fastest rise of that accuracy over two evaluation intervals: a step, and where"},
    {"bump", "where the smoothed loss on all positions bends downward against ln(tokens)"},
    {"bump_height", "nats over the line from its start to its end; 0 without a bump"},
    {"hump", "the rise and fall of the loss on noise positions, by medians of three evaluations"},
    {"hump_height", "nats over the level before; 0 without a hump"},
    {"began", "first evaluation from which on a tenth of the way is covered for good"},
    {"moved", "first from which on half of the way is"},
    {"way of a score",
     "from the first evaluation to its highest, in the head that ends highest; at least 0.05"},
    {"way of a loss", "from the last evaluation before the onset to the last one; at least 0.1 nats"},
    {"way of loss_noise", "from the level before the hump to its top; at least 0.1 nats"},
    {"first", "a score in that head at the first evaluation"},
    {"highest", "a score in that head at its highest; of loss_noise, the highest single evaluation, in nats"},
    {"final", "at the last evaluation: accuracy on induction positions, losses in nats"},
    {"head", "the head a score was followed in, LAYER.HEAD"},
};

template <class T>
std::optional<double> number(const std::optional<T>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

/// Steps to the last digit, other numbers as in every table.
std::string cell(const std::optional<double>& value) {
  if (!value) return "";
  const bool whole = *value == std::floor(*value) && std::abs(*value) < 1e15;
  return whole ? fmt::format("{:.0f}", *value) : csv_cell(*value);
}

/// The last values, and the highest loss on noise, as far as they are there.
void add_levels(FormationReport& report, const CsvTable& metrics) {
  for (const char* name : {"accuracy_induction", "loss", "loss_induction", "loss_noise"}) {
    if (!metrics.has(name)) continue;
    const double last = metrics.number(metrics.rows() - 1, name);
    if (std::isfinite(last)) report.measures.push_back({fmt::format("final_{}", name), last});
  }
  if (!metrics.has("loss_noise")) return;
  std::optional<double> highest;
  for (const double loss : metrics.numbers("loss_noise"))
    if (std::isfinite(loss)) highest = std::max(highest.value_or(loss), loss);
  if (highest) report.measures.push_back({"highest_loss_noise", highest});
}

void add_formation(FormationReport& report) {
  const Formation& formation = report.formation;
  const auto add = [&](const char* name, const std::optional<double>& value) {
    report.measures.push_back({name, value});
  };
  add("onset", number(formation.onset));
  add("half", number(formation.half));
  add("done", number(formation.done));
  add("width", number(formation.width()));
  const auto& steepest = formation.steepest;
  add("steepest_step", steepest ? number(std::optional(steepest->step)) : std::nullopt);
  add("steepest_per_step", steepest ? steepest->per_step : 0);
  const auto& bump = formation.bump;
  add("bump_start", bump ? number(std::optional(bump->start)) : std::nullopt);
  add("bump_top", bump ? number(std::optional(bump->top)) : std::nullopt);
  add("bump_end", bump ? number(bump->end) : std::nullopt);
  add("bump_height", bump ? bump->height : 0);
  const auto& hump = formation.hump;
  add("hump_start", hump ? number(std::optional(hump->start)) : std::nullopt);
  add("hump_top", hump ? number(std::optional(hump->top)) : std::nullopt);
  add("hump_end", hump ? number(hump->end) : std::nullopt);
  add("hump_height", hump ? hump->height : 0);
}

void add_moves(FormationReport& report) {
  for (const Move& move : report.moves) {
    report.measures.push_back({"began_" + move.name, number(move.began)});
    report.measures.push_back({"moved_" + move.name, number(move.moved)});
  }
  for (const Move& move : report.moves) {
    if (move.head.empty()) continue;
    report.measures.push_back({"first_" + move.name, move.from});
    report.measures.push_back({"highest_" + move.name, move.to});
  }
}

const std::string* head_of(const FormationReport& report, std::string_view score) {
  for (const Move& move : report.moves)
    if (move.name == score && !move.head.empty()) return &move.head;
  return nullptr;
}

/// The names of the first report's measures that all others have too.
std::vector<std::string> common_measures(std::span<const FormationReport> reports) {
  std::vector<std::string> names;
  if (reports.empty()) return names;
  for (const Measure& measure : reports.front().measures)
    if (std::ranges::all_of(reports, [&](const FormationReport& report) { return report.has(measure.name); }))
      names.push_back(measure.name);
  return names;
}

bool is_seed(const std::string& field) {
  return field == "train.initialisation_seed" || field == "train.data_seed" || field == "train.dropout_seed";
}

}  // namespace

bool FormationReport::has(std::string_view name) const {
  return std::ranges::any_of(measures, [&](const Measure& measure) { return measure.name == name; });
}

std::optional<double> FormationReport::value(std::string_view name) const {
  for (const Measure& measure : measures)
    if (measure.name == name) return measure.value;
  return {};
}

std::span<const MeasureDefinition> measure_definitions() { return kDefinitions; }

FormationReport formation_report(const CsvTable& metrics, const CsvTable& heads) {
  require(metrics.rows() > 0, "[formation] expected at least one evaluation, got none");
  FormationReport report;
  report.formation = formation_of(metrics);
  report.last_step = report.formation.last_step;
  if (heads.rows() > 0) report.moves = score_moves(heads);
  for (const std::string_view score : kFollowedScores)
    if (head_of(report, score) == nullptr) report.left_out.emplace_back(score);
  for (Move& move : loss_moves(metrics, report.formation)) report.moves.push_back(std::move(move));
  add_formation(report);
  add_moves(report);
  add_levels(report, metrics);
  return report;
}

FormationReport formation_report(const RunDirectory& run) {
  if (!task_kind(run.config().task.name).repeats)
    throw UsageError(
        fmt::format("[formation] {} is of the task {}, in which learning to copy has no beginning and no end",
                    run.path().string(), run.config().task.name));
  return formation_report(whole_metrics(run), whole_heads(run));
}

CsvTable formation_table(std::span<const FormationReport> reports, std::span<const std::string> names) {
  const std::vector<std::string> measures = common_measures(reports);
  std::vector<std::string> columns;
  if (!names.empty()) columns.emplace_back("run");
  columns.emplace_back("step");
  columns.insert(columns.end(), measures.begin(), measures.end());
  std::vector<std::string_view> scores;
  for (const std::string_view score : kFollowedScores)
    if (std::ranges::all_of(reports, [&](const auto& report) { return head_of(report, score) != nullptr; }))
      scores.push_back(score);
  for (const std::string_view score : scores) columns.push_back(fmt::format("head_{}", score));

  CsvTable table(columns);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    std::vector<std::string> row;
    if (!names.empty()) row.push_back(names[i]);
    row.push_back(std::to_string(reports[i].last_step));
    for (const std::string& measure : measures) row.push_back(cell(reports[i].value(measure)));
    for (const std::string_view score : scores) row.push_back(*head_of(reports[i], score));
    table.add(std::move(row));
  }
  return table;
}

std::vector<MeasureQuartiles> summary_of(std::span<const FormationReport> reports) {
  require(!reports.empty(), "[formation] expected at least one run to sum up");
  std::vector<MeasureQuartiles> summary;
  for (const std::string& name : common_measures(reports)) {
    std::vector<Censored> values;
    for (const FormationReport& report : reports) values.push_back({report.value(name), report.last_step});
    summary.push_back({name, quartiles(values)});
  }
  return summary;
}

std::vector<std::string> differing_fields_but_seeds(std::span<const Config> configs) {
  std::vector<std::string> names;
  for (const Config& config : configs)
    for (const FieldDifference& field : differences(configs.front(), config))
      if (!is_seed(field.name) && std::ranges::find(names, field.name) == names.end())
        names.push_back(field.name);
  return names;
}

}  // namespace tapehead
