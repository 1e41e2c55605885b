#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/commands.h"
#include "tapehead/app/estimate_text.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/status_line.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/context_score.h"

namespace tapehead::app {

namespace {

/// What was measured, of which run.
struct Measured {
  const RunDirectory& run;
  ContextOptions options;
  std::vector<ContextLosses> checkpoints;

  Index length() const { return run.config().task.length; }
  PositionBand early() const { return band_around(options.early, options.spread, length()); }
  PositionBand late() const { return band_around(options.late, options.spread, length()); }
};

std::string in_words(const PositionBand& band) {
  return band.first == band.last ? fmt::format("position {}", band.first)
                                 : fmt::format("positions {} to {}", band.first, band.last);
}

void print_text(const Measured& measured) {
  TextTable table({"step", "loss early", "loss late", "score"});
  for (const ContextLosses& at : measured.checkpoints)
    table.add(
        {std::to_string(at.step), decimals(at.early, 4), decimals(at.late, 4), with_interval(at.score)});
  std::cout << fmt::format(
                   "{}: in-context-learning score over {} held-out sequences of length {}, in nats: the mean "
                   "loss at\n{} less that at {} of the same sequences; negative: the context helps.\n"
                   "Position p has read p tokens. In brackets: 95 % bootstrap intervals over sequences\n\n",
                   measured.run.path().string(), measured.options.sequences, measured.length(),
                   in_words(measured.late()), in_words(measured.early()))
            << table.text() << "\ncontext.csv has the loss by position; tapehead plot draws it\n";
}

void print_json(const Measured& measured) {
  const auto json_of_band = [](const PositionBand& band) {
    return nlohmann::ordered_json{{"first", band.first}, {"last", band.last}};
  };
  nlohmann::ordered_json document{
      {"run", measured.run.path().string()},
      {"definition",
       "mean loss, in nats, at the late positions less that at the early ones; negative: the "
       "context helps"},
      {"early", json_of_band(measured.early())},
      {"late", json_of_band(measured.late())},
      {"sequences", measured.options.sequences},
      {"length", measured.length()},
      {"bands", nlohmann::ordered_json::array()},
      {"checkpoints", nlohmann::ordered_json::array()}};
  for (const PositionBand& band : position_bands(measured.length()))
    document["bands"].push_back(json_of_band(band));
  for (const ContextLosses& at : measured.checkpoints)
    document["checkpoints"].push_back({{"step", at.step},
                                       {"loss_early", at.early},
                                       {"loss_late", at.late},
                                       {"score", json_of(at.score)},
                                       {"losses", at.losses},
                                       {"slopes", at.slopes}});
  std::cout << json_text(document);
}

ContextOptions options_of(const Arguments& arguments, Index length) {
  const auto position = [&](const char* option) -> std::optional<Index> {
    return arguments.has(option) ? std::optional(arguments.number(option, 1)) : std::nullopt;
  };
  ContextOptions options =
      context_options(length, position("early"), position("late"),
                      arguments.has("spread") ? arguments.real("spread") : ContextOptions{}.spread);
  if (arguments.has("sequences")) options.sequences = sequences_given(arguments, 1, length);
  return options;
}

Arguments context_arguments() {
  Arguments arguments("context", "How much the context helps, at every checkpoint of a run.", "RUN");
  arguments.options()("early", "the early position (default: 50; in sequences below 500, a tenth of them)",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("late", "the late position (default: 500; in sequences below 500, their end)",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("spread",
                      "how far around each the mean goes, as a share of the position; 0: that position alone "
                      "(default: 0.1)",
                      cxxopts::value<std::string>(), "S");
  arguments.options()("sequences",
                      fmt::format("how many sequences to evaluate on (default: {})", kContextSequences),
                      cxxopts::value<std::string>(), "N");
  arguments.add_threads();
  arguments.add_json();
  return arguments;
}

}  // namespace

int context_command(const Words& words) {
  Arguments arguments = context_arguments();
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  Measured measured{run, options_of(arguments, run.config().task.length), {}};
  const std::vector<Index> steps = run.checkpoint_steps();
  require(!steps.empty(), "[context] {} holds no checkpoint yet", run.path().string());
  {
    StatusLine line(std::chrono::seconds(10));
    double done = 0;
    measured.checkpoints = context_of_run(run, steps, measured.options, {.threads = arguments.threads()},
                                          [&](const ContextLosses& at) {
                                            done += 1;
                                            if (line.is_due())
                                              line.show(done / static_cast<double>(steps.size()),
                                                        fmt::format("checkpoint of step {}", at.step));
                                          });
    line.clear();
  }
  arguments.flag("json") ? print_json(measured) : print_text(measured);
  std::cout.flush();
  context_table(measured.checkpoints, measured.length(), measured.options).write(run.table_file("context"));
  return 0;
}

}  // namespace tapehead::app
