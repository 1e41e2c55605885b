#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/formation_text.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/output_file.h"
#include "tapehead/base/require.h"
#include "tapehead/study/formation_report.h"
#include "tapehead/train/trainer.h"

namespace tapehead::app {

namespace {

struct Runs {
  std::vector<std::string> names;
  std::vector<Config> configs;
  std::vector<FormationReport> reports;
};

Runs read_runs(const std::vector<RunDirectory>& directories) {
  Runs runs;
  for (const RunDirectory& run : directories) {
    runs.names.push_back(run.path().string());
    runs.configs.push_back(run.config());
    runs.reports.push_back(formation_report(run));
  }
  return runs;
}

nlohmann::ordered_json json_of(const std::optional<double>& value) {
  if (!value) return nullptr;
  if (*value == std::floor(*value)) return static_cast<std::int64_t>(*value);
  return *value;
}

nlohmann::ordered_json json_of(const std::optional<Index>& step) {
  return step ? nlohmann::ordered_json(*step) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json json_of(const Quantile& quantile) {
  if (quantile.value) return json_of(quantile.value);
  return {{"not_by_step", quantile.not_by}};
}

nlohmann::ordered_json json_of(const std::string& name, const FormationReport& report) {
  nlohmann::ordered_json document{{"run", name}, {"step", report.last_step}};
  for (const Measure& measure : report.measures) document["measures"][measure.name] = json_of(measure.value);
  document["order"] = nlohmann::ordered_json::array();
  for (const Move& move : in_order(report.moves)) {
    nlohmann::ordered_json entry{{"what", move.name}};
    if (!move.head.empty()) entry["head"] = move.head;
    entry["from"] = move.from;
    entry["to"] = move.to;
    entry["began"] = json_of(move.began);
    entry["moved"] = json_of(move.moved);
    document["order"].push_back(std::move(entry));
  }
  document["left_out"] = report.left_out;
  return document;
}

void print_json(const Runs& runs, const std::vector<std::string>& differing) {
  nlohmann::ordered_json document;
  for (const MeasureDefinition& measure : measure_definitions())
    document["definitions"][std::string(measure.name)] = std::string(measure.definition);
  document["runs"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < runs.reports.size(); ++i)
    document["runs"].push_back(json_of(runs.names[i], runs.reports[i]));
  document["differing_fields"] = differing;
  for (const auto& [name, quartiles] : summary_of(runs.reports))
    document["summary"][name] = {{"known", quartiles.known},
                                 {"runs", quartiles.runs},
                                 {"lower_quartile", json_of(quartiles.lower)},
                                 {"median", json_of(quartiles.median)},
                                 {"upper_quartile", json_of(quartiles.upper)}};
  std::cout << json_text(document);
}

/// Onset, half and done are accuracies of 10, 50 and 90 %, whatever guessing gets right.
void warn_of_guessing(const Runs& runs) {
  std::set<Index> vocabularies;
  for (const Config& config : runs.configs)
    if (config.model.vocabulary <= 10) vocabularies.insert(config.model.vocabulary);
  for (const Index vocabulary : vocabularies)
    spdlog::warn("guessing among {} tokens is right {:.0f} % of the time: the onset{} needs no copying",
                 vocabulary, 100 / static_cast<double>(vocabulary), vocabulary == 2 ? ", and half," : "");
}

/// Throws Error for a file that is no table of several runs.
void look_at_table(const std::filesystem::path& file) {
  const std::vector<std::string> columns = CsvTable::read(file).columns();
  require(columns.front() == "run", "[formation] {} is none", file.string());
}

}  // namespace

int formation_command(const Words& words) {
  Arguments arguments("formation",
                      "When the heads of runs formed, and in what order scores and losses moved. One run's "
                      "numbers go into its formation.csv.",
                      "RUN...");
  arguments.options()("out", "a table of several runs, a row each", cxxopts::value<std::string>(),
                      "FILE.csv");
  arguments.add_json();
  if (!arguments.parse(words)) return 0;
  const std::vector<RunDirectory> directories = open_runs(arguments);
  const bool several = directories.size() > 1;
  if (arguments.has("out")) {
    if (!several) throw UsageError("--out goes with several runs; one run's table is written into the run");
    require_writable(arguments.text("out"), "--out", {"table of several runs", look_at_table});
  }
  const Runs runs = read_runs(directories);
  const std::vector<std::string> differing = differing_fields_but_seeds(runs.configs);
  if (!differing.empty())
    spdlog::warn("these runs differ in more than their seeds: {}", fmt::join(differing, ", "));

  warn_of_guessing(runs);

  if (arguments.flag("json"))
    print_json(runs, differing);
  else if (several)
    std::cout << formations_text(runs.names, runs.reports);
  else
    std::cout << formation_text(
        runs.names.front(), runs.reports.front(),
        chance_scores(evaluation_batch(runs.configs.front()), runs.configs.front().model.vocabulary));
  std::cout.flush();
  if (!several)
    formation_table(runs.reports).write(directories.front().table_file("formation"));
  else if (arguments.has("out"))
    formation_table(runs.reports, runs.names).write(arguments.text("out"));
  return 0;
}

}  // namespace tapehead::app
