#include <spdlog/spdlog.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tapehead/app/commands.h"
#include "tapehead/app/interrupt.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/progress.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/study/twin.h"
#include "tapehead/study/verdict.h"

namespace tapehead::app {

namespace {

/// With fewer sequences a period, chance would have a say in a verdict, which has no intervals.
constexpr Index kFewestSequences = 16;

std::string holds_in_words(const Evidence& evidence) {
  return !evidence.is_measured() ? "not measured" : evidence.holds() ? "yes" : "no";
}

void print_json(const LoadedRun& run, const Verdict& verdict, Index sequences) {
  nlohmann::ordered_json document{{"run", run.directory.path().string()},
                                  {"step", run.checkpoint.step},
                                  {"verdict", name_of(verdict.mechanism)},
                                  {"sentence", sentence(verdict)},
                                  {"sequences", sequences}};
  for (const Evidence& e : verdict.evidence) {
    nlohmann::ordered_json holds = nullptr;
    if (e.is_measured()) holds = e.holds();
    document["evidence"].push_back({{"name", e.name},
                                    {"finding", finding(e)},
                                    {"value", e.value},
                                    {"must_be", e.above ? "above" : "below"},
                                    {"threshold", e.threshold},
                                    {"holds", std::move(holds)}});
  }
  std::cout << json_text(document);
}

void print_table(const LoadedRun& run, const Verdict& verdict, Index sequences) {
  TextTable table({"for induction heads", "value", "must be", "holds"});
  for (const Evidence& e : verdict.evidence)
    table.add({finding(e), decimals(e.value, 3),
               fmt::format("{} {}", e.above ? "above" : "below", decimals(e.threshold, 3)),
               holds_in_words(e)});
  std::cout << fmt::format("{} at step {}: {}\n{}\n\n{}\nProbed with {} random sequences a period.\n",
                           run.directory.path().string(), run.checkpoint.step, name_of(verdict.mechanism),
                           sentence(verdict), table.text(), sequences);
}

/// The run's twin, or nothing where there can be none, which is said; trains it first if it is not there.
std::optional<Checkpoint> twin_of(const LoadedRun& run, const Arguments& arguments) {
  const Config& config = run.directory.config();
  if (arguments.flag("no-twin")) return std::nullopt;
  if (config.model.initialisation == Initialisation::imported || config.model.layers <= 1) {
    spdlog::info("no one-layer twin: {}", config.model.layers <= 1
                                              ? "the model has no more than one layer itself"
                                              : "the model was imported, and its training is not known");
    return std::nullopt;
  }
  watch_for_interrupt();
  std::optional<Progress> progress;
  std::optional<Checkpoint> twin = trained_twin(
      run.directory, arguments.threads(),
      {.stepped =
           [&](const Trainer& trainer, const Trainer::StepReport& report) {
             if (!progress) {
               spdlog::info("training the one-layer twin, into {}", twin_folder(run.directory).string());
               progress.emplace(trainer.step() - 1, trainer.config().train.steps,
                                trainer.config().train.batch * trainer.task().length());
             }
             progress->update(trainer.step(), report.loss);
           },
       .should_stop = interrupt_wished});
  if (!twin)
    throw Error("[verdict] stopped while training the one-layer twin; the same command goes on with it");
  return twin;
}

}  // namespace

int verdict_command(const Words& words) {
  Arguments arguments(
      "verdict",
      "By what mechanism a run's model copies, with the evidence: induction, positional, other "
      "or none.",
      "RUN");
  add_step_option(arguments);
  arguments.options()(
      "sequences",
      fmt::format("how many sequences a period to probe with, {} or more (default: 64)", kFewestSequences),
      cxxopts::value<std::string>(), "N");
  arguments.options()("no-twin", "do without the one-layer twin, which takes a training of its own");
  arguments.add_threads();
  arguments.add_json();
  if (!arguments.parse(words)) return 0;
  const LoadedRun run = load_run(arguments);
  // --sequences is about the probes; the loss on its own task is that of the run's evaluations.
  const Batch own = evaluation_batch(run.checkpoint.config, *run.task);
  ProbeOptions options{.evaluate = {.threads = arguments.threads()},
                       .seed = run.checkpoint.config.train.evaluation_seed};
  if (arguments.has("sequences"))
    options.sequences = sequences_given(arguments, kFewestSequences, run.checkpoint.config.task.length);
  // Before a twin is trained in vain.
  require_period_to_probe(run.checkpoint.model, *run.task);
  if (run.checkpoint.config.model.layers > 0) require_site(pattern(0), run.checkpoint.config.model);
  const std::optional<Checkpoint> twin = twin_of(run, arguments);
  const Verdict verdict = judge(run.checkpoint.model, *run.task, own, twin ? &twin->model : nullptr, options);
  arguments.flag("json") ? print_json(run, verdict, options.sequences)
                         : print_table(run, verdict, options.sequences);
  std::cout.flush();
  verdict_table(verdict, run.checkpoint.step, options.sequences).write(run.directory.table_file("verdict"));
  return 0;
}

}  // namespace tapehead::app
