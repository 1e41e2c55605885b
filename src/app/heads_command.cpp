#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/commands.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/period_scores.h"

namespace tapehead::app {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ScoreValues& values) {
  Json scores;
  for (std::size_t i = 0; i < values.size(); ++i) scores[std::string(kScores[i].name)] = values[i];
  return scores;
}

Json json_of(const std::vector<HeadScores>& heads) {
  Json list = Json::array();
  for (const HeadScores& head : heads) {
    Json entry{{"layer", head.layer}, {"head", head.head}};
    entry.update(json_of(head.values));
    list.push_back(std::move(entry));
  }
  return list;
}

/// Which run, and what its scores mean.
Json start_document(const LoadedRun& run) {
  Json document{{"run", run.directory.path().string()}, {"step", run.checkpoint.step}};
  for (const ScoreDefinition& score : kScores)
    document["definitions"][std::string(score.name)] = std::string(score.definition);
  return document;
}

std::vector<std::string> with_scores(std::vector<std::string> row, const ScoreValues& values) {
  for (const double value : values) row.push_back(decimals(value, 4));
  return row;
}

TextTable score_table(std::vector<std::string> columns) {
  for (const ScoreDefinition& score : kScores) columns.emplace_back(score.name);
  return TextTable(std::move(columns));
}

std::string name_of(const HeadScores& head) { return fmt::format("layer {} head {}", head.layer, head.head); }

void print_definitions() {
  std::cout << "\n";
  for (const ScoreDefinition& score : kScores)
    std::cout << fmt::format("{:16} {}\n", score.name, score.definition);
}

int score_evaluation_batch(const LoadedRun& run, const Arguments& arguments) {
  const std::vector<HeadScores> heads =
      score_heads(run.checkpoint.model, run.batch, {.threads = arguments.threads()});
  const ScoreValues chance = chance_scores(run.batch, run.checkpoint.config.model.vocabulary);
  if (arguments.flag("json")) {
    Json document = start_document(run);
    document["chance"] = json_of(chance);
    document["ceiling"] = 1;
    document["heads"] = json_of(heads);
    std::cout << json_text(document);
    return 0;
  }
  TextTable table = score_table({"head"});
  for (const HeadScores& head : heads) table.add(with_scores({name_of(head)}, head.values));
  table.add(with_scores({"chance"}, chance));
  std::cout << fmt::format("{} at step {}: scores of heads over {} sequences; the ceiling of each is 1\n\n",
                           run.directory.path().string(), run.checkpoint.step, run.batch.size())
            << table.text();
  print_definitions();
  return 0;
}

std::string model_of(const PeriodScores& at) {
  return at.trained ? fmt::format("step {}", at.step) : std::string("untrained");
}

void print_periods(const LoadedRun& run, const PeriodOptions& options,
                   const std::vector<PeriodScores>& scores) {
  TextTable table = score_table({"period", "trained on", "model", "head"});
  const Index vocabulary = run.checkpoint.config.model.vocabulary;
  for (const Index period : options.periods) {
    std::string trained_on;
    for (const PeriodScores& at : scores) {
      if (at.period != period) continue;
      trained_on = at.trained_on ? "yes" : "no";
      for (const HeadScores& head : at.heads)
        table.add(
            with_scores({std::to_string(period), trained_on, model_of(at), name_of(head)}, head.values));
    }
    table.add(with_scores({std::to_string(period), trained_on, "chance", ""},
                          chance_scores(period_batch(options, vocabulary, period), vocabulary)));
  }
  std::cout << fmt::format(
                   "{} at step {}: scores of heads on {} sequences of length {} at each period, each a "
                   "segment of\nrandom tokens repeated; the ceiling of each score is 1\n\n",
                   run.directory.path().string(), run.checkpoint.step, options.sequences, options.length)
            << table.text();
  print_definitions();
}

void print_periods_json(const LoadedRun& run, const PeriodOptions& options,
                        const std::vector<PeriodScores>& scores) {
  Json document = start_document(run);
  document["ceiling"] = 1;
  document["length"] = options.length;
  document["sequences"] = options.sequences;
  document["periods"] = Json::array();
  const Index vocabulary = run.checkpoint.config.model.vocabulary;
  for (const PeriodScores& at : scores)
    document["periods"].push_back(
        {{"model", at.trained ? "trained" : "untrained"},
         {"step", at.step},
         {"period", at.period},
         {"trained_on", at.trained_on},
         {"chance", json_of(chance_scores(period_batch(options, vocabulary, at.period), vocabulary))},
         {"heads", json_of(at.heads)}});
  std::cout << json_text(document);
}

int score_periods(const LoadedRun& run, const Arguments& arguments) {
  PeriodOptions options =
      period_options(run.checkpoint.config, *run.task, arguments.distinct_numbers("periods", 1));
  options.sequences = run.batch.size();
  const std::vector<PeriodScores> scores =
      scores_of_run(run.directory, run.checkpoint, *run.task, options, {.threads = arguments.threads()});
  arguments.flag("json") ? print_periods_json(run, options, scores) : print_periods(run, options, scores);
  std::cout.flush();
  period_table(scores, options).write(run.directory.table_file("scores"));
  return 0;
}

}  // namespace

int heads_command(const Words& words) {
  Arguments arguments("heads", "What every head of a run's model looks at, and whether it copies it.", "RUN");
  add_run_options(arguments);
  arguments.options()("periods",
                      "on sequences that repeat with each of these periods, trained on or not, and of the "
                      "untrained model too; writes the run's scores.csv",
                      cxxopts::value<std::string>(), "N,N,...");
  if (!arguments.parse(words)) return 0;
  const LoadedRun run = load_run(arguments);
  return arguments.has("periods") ? score_periods(run, arguments) : score_evaluation_batch(run, arguments);
}

}  // namespace tapehead::app
