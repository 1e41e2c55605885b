#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/commands.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/head_scores.h"

namespace tapehead::app {

namespace {

nlohmann::ordered_json json_of(const ScoreValues& values) {
  nlohmann::ordered_json scores;
  for (std::size_t i = 0; i < values.size(); ++i) scores[std::string(kScores[i].name)] = values[i];
  return scores;
}

void print_json(const LoadedRun& run, const std::vector<HeadScores>& heads) {
  nlohmann::ordered_json document{{"run", run.directory.path().string()}, {"step", run.checkpoint.step}};
  for (const ScoreDefinition& score : kScores)
    document["definitions"][std::string(score.name)] = std::string(score.definition);
  document["chance"] = json_of(chance_scores(run.batch));
  document["ceiling"] = 1;
  document["heads"] = nlohmann::ordered_json::array();
  for (const HeadScores& head : heads) {
    nlohmann::ordered_json entry{{"layer", head.layer}, {"head", head.head}};
    entry.update(json_of(head.values));
    document["heads"].push_back(std::move(entry));
  }
  std::cout << json_text(document);
}

std::vector<std::string> row_of(const std::string& label, const ScoreValues& values) {
  std::vector<std::string> row{label};
  for (const double value : values) row.push_back(decimals(value, 4));
  return row;
}

void print_table(const LoadedRun& run, const std::vector<HeadScores>& heads) {
  std::vector<std::string> columns{"head"};
  for (const ScoreDefinition& score : kScores) columns.emplace_back(score.name);
  TextTable table(std::move(columns));
  for (const HeadScores& head : heads)
    table.add(row_of(fmt::format("layer {} head {}", head.layer, head.head), head.values));
  table.add(row_of("chance", chance_scores(run.batch)));
  std::cout << fmt::format("{} at step {}: attention scores over {} sequences; the ceiling of each is 1\n\n",
                           run.directory.path().string(), run.checkpoint.step, run.batch.size())
            << table.text() << "\n";
  for (const ScoreDefinition& score : kScores)
    std::cout << fmt::format("{:16} {}\n", score.name, score.definition);
}

}  // namespace

int heads_command(const Words& words) {
  Arguments arguments("heads", "What every head of a run's model looks at.", "RUN");
  add_run_options(arguments);
  if (!arguments.parse(words)) return 0;
  const LoadedRun run = load_run(arguments);
  const std::vector<HeadScores> heads =
      score_heads(run.checkpoint.model, run.batch, {.threads = arguments.threads()});
  arguments.flag("json") ? print_json(run, heads) : print_table(run, heads);
  return 0;
}

}  // namespace tapehead::app
