#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tapehead/app/commands.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/period_scores.h"
#include "tapehead/tasks/floors.h"
#include "tapehead/train/config_rules.h"
#include "tapehead/train/evaluate.h"
#include "tapehead/train/trainer.h"

namespace tapehead::app {

namespace {

/// The model's results on one set of sequences.
struct Row {
  std::string data;
  Evaluation evaluation;
  std::optional<double> bits_per_byte = {};  ///< where the sequences are text
};

/// Puts sequences of another length in place of those that the run was evaluated on. Throws UsageError for
/// one that the model, the task or the memory cannot hold.
void lengthen(LoadedRun& run, Index length) {
  Config& config = run.checkpoint.config;
  config.task.length = length;
  config.train.evaluation_sequences = run.batch.size();
  for (const Rule& rule : rules_of(config))
    if (!rule.holds)
      throw UsageError(fmt::format("--length: {} and {}: {}", rule.fields[0], rule.fields[1], rule.message));
  run.task = make_task(config.task, config.model.vocabulary);
  run.batch = evaluation_batch(config, *run.task);
}

std::vector<Row> rows_of(const LoadedRun& run, const Arguments& arguments) {
  const EvaluateOptions options{.threads = arguments.threads()};
  const Config& config = run.checkpoint.config;
  std::vector<Row> rows;
  const auto add = [&](const std::string& data, const Batch& batch, const Tokenizer* tokenizer) {
    Row& row = rows.emplace_back(Row{data, evaluate(run.checkpoint.model, batch, {}, options)});
    if (tokenizer != nullptr) row.bits_per_byte = bits_per_byte(row.evaluation, batch.targets, *tokenizer);
  };
  const std::shared_ptr<const Tokenizer> tokenizer = run.task->tokenizer();
  add(arguments.has("length") ? fmt::format("length {}", config.task.length) : "evaluation batch", run.batch,
      tokenizer.get());
  if (const Batch all = run.task->held_out(); all.size() > 0)
    add(fmt::format("all {} held-out windows", all.size()), all, tokenizer.get());
  if (!arguments.has("periods")) return rows;
  const PeriodOptions sequences{.periods = arguments.distinct_numbers("periods", 1),
                                .length = config.task.length,
                                .sequences = run.batch.size(),
                                .seed = config.train.evaluation_seed};
  for (const Index period : sequences.periods) {
    if (period >= config.task.length)
      throw UsageError(fmt::format("--periods: expected periods below the sequence length of {}, got {}",
                                   config.task.length, period));
    add(fmt::format("period {}", period), period_batch(sequences, config.model.vocabulary, period), nullptr);
  }
  return rows;
}

void print_json(const LoadedRun& run, const std::vector<Row>& rows, const std::vector<Floor>& floors) {
  nlohmann::ordered_json document{{"run", run.directory.path().string()}, {"step", run.checkpoint.step}};
  for (const Row& row : rows) {
    document["evaluations"].push_back({{"data", row.data},
                                       {"loss", row.evaluation.loss()},
                                       {"loss_induction", row.evaluation.loss(Kind::induction)},
                                       {"loss_noise", row.evaluation.loss(Kind::noise)},
                                       {"accuracy_induction", row.evaluation.accuracy(Kind::induction)},
                                       {"accuracy_noise", row.evaluation.accuracy(Kind::noise)},
                                       {"perplexity", row.evaluation.perplexity()}});
    if (row.bits_per_byte) document["evaluations"].back()["bits_per_byte"] = *row.bits_per_byte;
  }
  for (const Floor& floor : floors)
    document["floors"].push_back({{"predictor", floor.predictor},
                                  {"loss", floor.loss},
                                  {"loss_induction", floor.loss_induction},
                                  {"loss_noise", floor.loss_noise},
                                  {"accuracy_induction", floor.accuracy_induction},
                                  {"sequences", floor_sequences(run.batch)}});
  std::cout << json_text(document);
}

/// What the table's rows of floors say, and what they do not.
std::string floors_in_words(const LoadedRun& run, const std::vector<Floor>& floors) {
  const Index sequences = floor_sequences(run.batch);
  std::string words =
      "\nA floor is what the best predictor loses that knows how the task draws its sequences";
  if (sequences < run.batch.size()) words += fmt::format(", on the first {} of them", sequences);
  words += ":\nchance sees nothing";
  if (floors.size() > 1)
    words +=
        "; current token sees where x_t stood before and what followed, last two also whether\n"
        "x_(t-1) stood before it there; Bayes sees everything: over all positions together no model can "
        "expect\n"
        "to lose less";
  else
    words += "; the others need a task whose law is known, and sequences that are not too long";
  return words + ".\n";
}

void print_table(const LoadedRun& run, const std::vector<Row>& rows, const std::vector<Floor>& floors) {
  TextTable table({"data", "loss", "induction", "noise", "accuracy induction", "accuracy noise", "perplexity",
                   "bits per byte"});
  for (const Row& row : rows)
    table.add(
        {row.data, decimals(row.evaluation.loss(), 4), decimals(row.evaluation.loss(Kind::induction), 4),
         decimals(row.evaluation.loss(Kind::noise), 4), decimals(row.evaluation.accuracy(Kind::induction), 4),
         decimals(row.evaluation.accuracy(Kind::noise), 4), decimals(row.evaluation.perplexity(), 3),
         row.bits_per_byte ? decimals(*row.bits_per_byte, 4) : "-"});
  for (const Floor& floor : floors)
    table.add({fmt::format("floor: {}", floor.predictor), decimals(floor.loss, 4),
               decimals(floor.loss_induction, 4), decimals(floor.loss_noise, 4),
               decimals(floor.accuracy_induction, 4), "-", decimals(std::exp(floor.loss), 3), "-"});
  std::cout << fmt::format(
                   "{} at step {}: mean loss in nats by kind of position; chance is ln {} = {:.4f}\n\n",
                   run.directory.path().string(), run.checkpoint.step, run.checkpoint.config.model.vocabulary,
                   std::log(static_cast<double>(run.checkpoint.config.model.vocabulary)))
            << table.text() << floors_in_words(run, floors);
}

}  // namespace

int eval_command(const Words& words) {
  Arguments arguments("eval", "Losses and accuracies of a run's model, by kind of position.", "RUN");
  add_run_options(arguments);
  arguments.options()("periods",
                      "also on sequences that repeat with each of these periods, trained on or not",
                      cxxopts::value<std::string>(), "N,N,...")(
      "length", "on sequences of this length instead, of at most the model's context",
      cxxopts::value<std::string>(), "N");
  if (!arguments.parse(words)) return 0;
  LoadedRun run = load_run(arguments);
  if (arguments.has("length")) lengthen(run, arguments.number("length", 1));
  const std::vector<Row> rows = rows_of(run, arguments);
  const std::vector<Floor> best = floors(*run.task, run.batch, arguments.threads());
  arguments.flag("json") ? print_json(run, rows, best) : print_table(run, rows, best);
  return 0;
}

}  // namespace tapehead::app
