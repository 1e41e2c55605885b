#include "tapehead/app/step_estimate_output.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/json.h"
#include "tapehead/app/table.h"

namespace tapehead::app {

namespace {

using Json = nlohmann::ordered_json;

/// A number with as many decimals as leave it readable.
std::string figure(double value) {
  if (value == 0) return "0";
  if (value >= 1000) return grouped(std::llround(value));
  return decimals(value, value >= 100 ? 1 : value >= 1 ? 2 : 4);
}

std::string in_mebibytes(Index bytes) { return figure(static_cast<double>(bytes) / (1 << 20)); }
std::string in_megabytes(Index bytes) { return figure(static_cast<double>(bytes) / 1e6); }
std::string as_share(double share) { return decimals(100 * share, 1); }

struct Row {
  const char* name;
  std::function<std::string(const StepEstimate&)> cell;
  bool only_with_masks = false;  // of dropout
};

std::vector<Row> rows() {
  using E = StepEstimate;
  return {
      {"shards a rank, at most", [](const E& e) { return grouped(e.shards_of_rank); }},
      {"MiB a rank: model", [](const E& e) { return in_mebibytes(e.memory.model); }},
      {"  averages of the optimizer", [](const E& e) { return in_mebibytes(e.memory.averages); }},
      {"  gradients, of sets not yet added", [](const E& e) { return in_mebibytes(e.memory.gradients); }},
      {"  activations of shards at work", [](const E& e) { return in_mebibytes(e.memory.activations); }},
      {"  dropout's masks", [](const E& e) { return in_mebibytes(e.memory.masks); }, true},
      {"  exchange", [](const E& e) { return in_mebibytes(e.memory.exchange); }},
      {"  all at the peak", [](const E& e) { return in_mebibytes(e.memory.peak()); }},
      {"MB a rank sends a step", [](const E& e) { return in_megabytes(e.sent_bytes); }},
      {"seconds: computing", [](const E& e) { return figure(e.seconds.compute); }},
      {"  adding and updating", [](const E& e) { return figure(e.seconds.update); }},
      {"  exchange of gradients", [](const E& e) { return figure(e.seconds.exchange); }},
      {"  a step", [](const E& e) { return figure(e.seconds.step()); }},
      {"tokens a second", [](const E& e) { return figure(e.tokens_per_second); }},
      {"% of the time computing", [](const E& e) { return as_share(e.seconds.compute / e.seconds.step()); }},
      {"% of one rank's rate, each", [](const E& e) { return as_share(e.efficiency); }},
  };
}

Json json_of(const StepEstimate& estimate, Index ranks) {
  const StepEstimate::Memory& memory = estimate.memory;
  return {{"ranks", ranks},
          {"shards_of_rank", estimate.shards_of_rank},
          {"memory_bytes",
           {{"model", memory.model},
            {"optimizer", memory.averages},
            {"gradients", memory.gradients},
            {"activations", memory.activations},
            {"exchange", memory.exchange},
            {"arrays", memory.arrays},
            {"dropout_masks", memory.masks},
            {"peak", memory.peak()}}},
          {"sent_bytes", estimate.sent_bytes},
          {"received_bytes", estimate.received_bytes},
          {"messages", estimate.messages},
          {"seconds",
           {{"compute", estimate.seconds.compute},
            {"update", estimate.seconds.update},
            {"exchange", estimate.seconds.exchange},
            {"step", estimate.seconds.step()}}},
          {"tokens_per_second", estimate.tokens_per_second},
          {"efficiency", estimate.efficiency}};
}

}  // namespace

void print_table(const StepEstimates& computed) {
  const StepEstimate& any = computed.estimates.front();
  std::vector<std::string> columns{"ranks"};
  for (const Machines& machines : computed.machines) columns.push_back(grouped(machines.ranks));
  TextTable table(std::move(columns));
  for (const Row& row : rows()) {
    if (row.only_with_masks && any.memory.masks == 0) continue;
    std::vector<std::string> cells{row.name};
    for (const StepEstimate& estimate : computed.estimates) cells.push_back(row.cell(estimate));
    table.add(std::move(cells));
  }
  const Machines& machines = computed.machines.front();
  std::cout << fmt::format(
      "{}: {} parameters; a training step of {} tokens in {} shards\n"
      "costs {} operations in matrix products\n\n"
      "{}\n"
      "All of this is computed, not run. Each rank is a machine with {} thread{} of {:.4g} GFLOP/s ({}),\n"
      "{:.4g} GB/s of memory, and a network of {:.4g} Gbit/s either way and {:.4g} µs a message.\n",
      computed.config, grouped(any.parameters), grouped(any.tokens), grouped(any.shards),
      grouped(any.operations), table.text(), machines.threads, machines.threads == 1 ? "" : "s",
      machines.operations_per_second / 1e9, computed.measured ? "measured here" : "as given",
      machines.memory_bytes_per_second / 1e9, machines.network_bytes_per_second * 8 / 1e9,
      machines.seconds_per_message * 1e6);
}

void print_json(const StepEstimates& computed) {
  const StepEstimate& any = computed.estimates.front();
  const Machines& machines = computed.machines.front();
  Json document{{"config", computed.config},
                {"computed", true},
                {"machine",
                 {{"threads", machines.threads},
                  {"gflops", machines.operations_per_second / 1e9},
                  {"gflops_measured", computed.measured},
                  {"memory_gbytes", machines.memory_bytes_per_second / 1e9},
                  {"network_gbits", machines.network_bytes_per_second * 8 / 1e9},
                  {"latency_us", machines.seconds_per_message * 1e6}}},
                {"parameter_count", any.parameters},
                {"step", {{"tokens", any.tokens}, {"shards", any.shards}, {"operations", any.operations}}},
                {"estimates", Json::array()}};
  for (std::size_t i = 0; i < computed.estimates.size(); ++i)
    document["estimates"].push_back(json_of(computed.estimates[i], computed.machines[i].ranks));
  std::cout << json_text(document);
}

}  // namespace tapehead::app
