#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/commands.h"
#include "tapehead/app/head_name.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/ablation.h"

namespace tapehead::app {

namespace {

std::string label(const Ablation& ablation) {
  return ablation.head == kAllHeads ? fmt::format("layer {} all heads", ablation.layer)
                                    : fmt::format("layer {} head {}", ablation.layer, ablation.head);
}

nlohmann::ordered_json json_of(const Estimate& estimate) {
  return {{"mean", estimate.mean}, {"low", estimate.low}, {"high", estimate.high}};
}

void print_json(const LoadedRun& run, const Evaluation& plain, const std::vector<Ablation>& ablations) {
  nlohmann::ordered_json document{{"run", run.directory.path().string()},
                                  {"step", run.checkpoint.step},
                                  {"kind", "zero"},
                                  {"sequences", run.batch.size()},
                                  {"plain",
                                   {{"loss", plain.loss()},
                                    {"loss_induction", plain.loss(Kind::induction)},
                                    {"loss_noise", plain.loss(Kind::noise)},
                                    {"accuracy_induction", plain.accuracy(Kind::induction)}}}};
  document["ablations"] = nlohmann::ordered_json::array();
  for (const Ablation& ablation : ablations) {
    nlohmann::ordered_json head =
        ablation.head == kAllHeads ? nlohmann::ordered_json("all") : nlohmann::ordered_json(ablation.head);
    document["ablations"].push_back(
        {{"layer", ablation.layer},
         {"head", std::move(head)},
         {"change_loss", json_of(ablation.change_loss)},
         {"change_induction", json_of(ablation.change_induction)},
         {"change_noise", json_of(ablation.change_noise)},
         {"change_accuracy_induction", json_of(ablation.change_accuracy_induction)},
         {"change_accuracy_noise", json_of(ablation.change_accuracy_noise)},
         {"accuracy_induction", json_of(ablation.accuracy_induction)}});
  }
  std::cout << json_text(document);
}

void print_table(const LoadedRun& run, const Evaluation& plain, const std::vector<Ablation>& ablations) {
  TextTable table({"set to zero", "change on induction", "95 % interval", "change on noise", "95 % interval",
                   "accuracy induction"});
  const auto interval = [](const Estimate& e) {
    return fmt::format("[{}, {}]", signed_decimals(e.low, 3), signed_decimals(e.high, 3));
  };
  for (const Ablation& a : ablations)
    table.add({label(a), signed_decimals(a.change_induction.mean, 3), interval(a.change_induction),
               signed_decimals(a.change_noise.mean, 3), interval(a.change_noise),
               decimals(a.accuracy_induction.mean, 3)});
  std::cout
      << fmt::format(
             "{} at step {}: change in loss (nats) when a head's output is set to zero before the output "
             "projection,\nmeans over {} sequences with paired bootstrap intervals; without ablation: loss "
             "{} on "
             "induction positions,\n{} on noise, accuracy {} on induction positions\n\n",
             run.directory.path().string(), run.checkpoint.step, run.batch.size(),
             decimals(plain.loss(Kind::induction), 3), decimals(plain.loss(Kind::noise), 3),
             decimals(plain.accuracy(Kind::induction), 3))
      << table.text();
}

}  // namespace

int ablate_command(const Words& words) {
  Arguments arguments(
      "ablate", "What the loss does when a head is taken out: every head, and each layer whole.", "RUN");
  add_run_options(arguments);
  arguments.options()("head",
                      "one head only, as in 0.1 for head 1 of layer 0; the run's table stays as it is",
                      cxxopts::value<std::string>(), "LAYER.HEAD");
  if (!arguments.parse(words)) return 0;
  const LoadedRun run = load_run(arguments);
  const Transformer& model = run.checkpoint.model;
  if (model.config().layers == 0) throw UsageError("this model has no layers, so no heads to ablate");
  const EvaluateOptions options{.threads = arguments.threads()};
  const bool one_head = arguments.has("head");
  const Site head = one_head ? parse_head(arguments.text("head"), model.config()) : Site{};

  const Evaluation plain = evaluate(model, run.batch, {}, options);
  const std::vector<Ablation> ablations =
      one_head ? std::vector{zero_ablation(model, run.batch, plain, head.layer, head.head, options)}
               : ablate_all_heads(model, run.batch, plain, options);
  arguments.flag("json") ? print_json(run, plain, ablations) : print_table(run, plain, ablations);
  std::cout.flush();
  if (!one_head)
    ablation_table(ablations, run.checkpoint.step, run.batch.size()).write(run.directory.table_file("ablation"));
  return 0;
}

}  // namespace tapehead::app
