#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/json.h"
#include "tapehead/app/step_estimate_output.h"
#include "tapehead/app/table.h"
#include "tapehead/base/parallel.h"
#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/operation_counter.h"
#include "tapehead/tensor/memory.h"
#include "tapehead/tensor/safetensors.h"
#include "tapehead/text/utf8.h"
#include "tapehead/train/benchmark.h"
#include "tapehead/train/run_directory.h"
#include "tapehead/train/trainer.h"

namespace tapehead::app {

namespace {

/// What one training step costs, counted while it runs on one thread.
struct StepCost {
  Index operations;  ///< multiplications and additions of matrix products
  Index peak_bytes;  ///< of all arrays: parameters, averages, gradients, activations
  Index parameter_bytes;
  Index average_bytes;  ///< what the optimizer keeps between steps
};

StepCost measure_step(Trainer& trainer) {
  trainer.advance();  // after which the optimizer's averages are there
  reset_peak_memory();
  const Trainer::StepReport report = trainer.advance();
  StepCost cost{report.operations, memory_use().peak, 0, 0};
  cost.parameter_bytes = trainer.model().parameters().count() * static_cast<Index>(sizeof(Real));
  for (const Optimizer::State& state : trainer.optimizer().state())
    cost.average_bytes += state.values.count() * static_cast<Index>(sizeof(Real));
  return cost;
}

/// What a forward pass of one sequence costs, site by site; sites that cost nothing are left out.
std::vector<OperationCounter::Count> measure_pass(const Trainer& trainer) {
  OperationCounter counter;
  trainer.model()(Pass().watched_by({counter}), Tokens(1, trainer.task().length()));
  std::vector<OperationCounter::Count> counts = counter.counts();
  std::erase_if(counts, [](const OperationCounter::Count& count) { return count.operations == 0; });
  return counts;
}

void print_json(const Trainer& trainer, const StepCost& cost) {
  nlohmann::ordered_json document;
  for (const Parameters::Entry& entry : trainer.model().parameters().entries())
    document["parameters"].push_back(
        {{"name", entry.name},
         {"shape", std::vector<Index>(entry.shape.sizes().begin(), entry.shape.sizes().end())},
         {"count", entry.count()},
         {"decays", entry.decays()}});
  document["parameter_count"] = trainer.model().parameters().count();
  document["step"] = {{"tokens", trainer.config().train.batch * trainer.task().length()},
                      {"operations", cost.operations},
                      {"peak_bytes", cost.peak_bytes},
                      {"parameter_bytes", cost.parameter_bytes},
                      {"optimizer_bytes", cost.average_bytes}};
  document["forward"]["tokens"] = trainer.task().length();
  for (const auto& [site, operations] : measure_pass(trainer))
    document["forward"]["operations"][to_string(site)] = operations;
  std::cout << json_text(document);
}

/// The same a token, with all layers in one row, as `blocks.*.attention.pattern`.
std::string forward_table(const Trainer& trainer) {
  TextTable table({"forward pass", "operations a token"});
  const Index tokens = trainer.task().length();
  std::vector<std::pair<std::string, Index>> rows;
  Index all = 0;
  for (const auto& [site, operations] : measure_pass(trainer)) {
    std::string name = to_string(site);
    if (site.layer != kNoLayer) name.replace(name.find('.') + 1, std::to_string(site.layer).size(), "*");
    const auto row = std::ranges::find(rows, name, &std::pair<std::string, Index>::first);
    if (row == rows.end())
      rows.emplace_back(std::move(name), operations);
    else
      row->second += operations;
    all += operations;
  }
  for (const auto& [name, operations] : rows) table.add({name, grouped(operations / tokens)});
  table.add({"all", grouped(all / tokens)});
  return table.text();
}

void print_table(const Trainer& trainer, const StepCost& cost) {
  TextTable table({"parameter", "shape", "count", "decays"});
  for (const Parameters::Entry& entry : trainer.model().parameters().entries())
    table.add({entry.name, to_string(entry.shape), grouped(entry.count()), entry.decays() ? "yes" : "no"});
  table.add({"all", "", grouped(trainer.model().parameters().count()), ""});
  const Index tokens = trainer.config().train.batch * trainer.task().length();
  std::cout
      << table.text() << "\n"
      << forward_table(trainer)
      << fmt::format(
             "\none training step of {} tokens, counted while it ran on one thread:\n"
             "  {} operations in matrix products (a multiplication and an addition are two), {} a token\n"
             "  {} of arrays at the peak, of them {} parameters and {} averages of the optimizer\n",
             grouped(tokens), grouped(cost.operations), grouped(cost.operations / tokens),
             mebibytes(cost.peak_bytes), mebibytes(cost.parameter_bytes), mebibytes(cost.average_bytes));
}

void print_archive_json(const SafetensorsFile& archive) {
  nlohmann::ordered_json document{{"metadata", archive.metadata()}};
  document["tensors"] = nlohmann::ordered_json::array();
  for (const SafetensorsEntry& entry : archive.entries())
    document["tensors"].push_back({{"name", entry.name},
                                   {"dtype", entry.dtype},
                                   {"shape", entry.shape},
                                   {"bytes", entry.end - entry.begin}});
  std::cout << json_text(document);
}

void print_archive(const SafetensorsFile& archive) {
  TextTable table({"tensor", "dtype", "shape", "bytes"});
  Index bytes = 0;
  for (const SafetensorsEntry& entry : archive.entries()) {
    table.add({is_printable(entry.name) ? entry.name : quoted_name(entry.name), entry.dtype,
               fmt::format("({})", fmt::join(entry.shape, ", ")), grouped(entry.end - entry.begin)});
    bytes += entry.end - entry.begin;
  }
  table.add({"all", "", "", grouped(bytes)});
  std::cout << table.text();
  if (!archive.metadata().empty()) std::cout << "\nmetadata:\n";
  for (const auto& [key, value] : archive.metadata())
    std::cout << fmt::format("  {} = {}\n", quoted_name(key), quoted_name(value));
}

/// What only says how an estimate is made.
constexpr std::array kEstimateOptions{"threads", "gflops", "gbytes", "gbits", "latency-us"};

Arguments inspect_arguments() {
  Arguments arguments(
      "inspect",
      "A model's parameters by name, and what a training step costs; or what is in a safetensors file, "
      "whoever wrote it; or, by formula, what a step would cost on several machines.",
      "RUN|CONFIG|FILE.safetensors");
  const auto add = [&](const char* name, const char* meaning, const char* unit) {
    arguments.options()(name, meaning, cxxopts::value<std::string>(), unit);
  };
  arguments.options()("set", "another value for one field of the config; may be repeated",
                      cxxopts::value<std::vector<std::string>>(), "table.key=value");
  add("ranks", "memory and time of a step by formula, on so many machines; several with commas", "N,...");
  arguments.add_threads("with --ranks: of each machine");
  add("gflops",
      "with --ranks: GFLOP/s of a thread (default: measured here, on steps of one shard; if it is given, "
      "nothing is run)",
      "X");
  add("gbytes", "with --ranks: GB/s of a machine's memory (default: measured here, or 10 with --gflops)",
      "X");
  add("gbits", "with --ranks: Gbit/s of a machine's network, either way (default: 10)", "X");
  add("latency-us", "with --ranks: microseconds for a message to set out (default: 50)", "X");
  arguments.add_json();
  return arguments;
}

void inspect_archive(const Arguments& arguments, const std::filesystem::path& path) {
  for (const char* option : {"set", "ranks"})
    if (arguments.has(option))
      throw UsageError(fmt::format("--{} takes a run or a config, and {} is neither", option, path.string()));
  const SafetensorsFile archive(path);
  arguments.flag("json") ? print_archive_json(archive) : print_archive(archive);
}

Config config_of(const Arguments& arguments, const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return read_config(path, arguments.texts("set"));
  const Config config = RunDirectory::open(path).config();
  return arguments.has("set")
             ? parse_config(to_toml(config), (path / "config.toml").string(), arguments.texts("set"))
             : config;
}

Machines given_machines(const Arguments& arguments) {
  Machines machines;
  machines.threads = arguments.threads();
  const auto take = [&](const char* option, double unit, double& rate) {
    if (arguments.has(option)) rate = unit * arguments.positive(option);
  };
  take("gflops", 1e9, machines.operations_per_second);
  take("gbytes", 1e9, machines.memory_bytes_per_second);
  take("gbits", 1e9 / 8, machines.network_bytes_per_second);
  take("latency-us", 1e-6, machines.seconds_per_message);
  return machines;
}

void inspect_ranks(const Arguments& arguments, const std::string& path, const Config& config) {
  Machines machines = given_machines(arguments);
  StepEstimates computed{.config = path, .measured = !arguments.has("gflops")};
  for (const Index ranks : arguments.distinct_numbers("ranks", 1)) {
    machines.ranks = ranks;
    computed.machines.push_back(machines);
    estimate_step(config, machines);  // so that what is wrong is told before anything is measured
  }
  const int threads = std::min(machines.threads, hardware_threads());
  const Machines here = computed.measured ? measured_rates(config, threads) : machines;
  for (Machines& some : computed.machines) {
    if (computed.measured) some.operations_per_second = here.operations_per_second;
    if (!arguments.has("gbytes")) some.memory_bytes_per_second = here.memory_bytes_per_second;
    computed.estimates.push_back(estimate_step(config, some));
  }
  arguments.flag("json") ? print_json(computed) : print_table(computed);
}

}  // namespace

int inspect_command(const Words& words) {
  Arguments arguments = inspect_arguments();
  if (!arguments.parse(words)) return 0;
  for (const char* option : kEstimateOptions)
    if (arguments.has(option) && !arguments.has("ranks"))
      throw UsageError(fmt::format("--{} goes with --ranks", option));
  const std::filesystem::path path = arguments.positional();
  if (path.extension() == ".safetensors") {
    inspect_archive(arguments, path);
    return 0;
  }
  const Config config = config_of(arguments, path);
  if (arguments.has("ranks")) {
    inspect_ranks(arguments, path.string(), config);
    return 0;
  }
  Trainer trainer(with_drawn_weights(config), 1);
  const StepCost cost = measure_step(trainer);
  arguments.flag("json") ? print_json(trainer, cost) : print_table(trainer, cost);
  return 0;
}

}  // namespace tapehead::app
