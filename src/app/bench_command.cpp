#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/json.h"
#include "tapehead/app/table.h"
#include "tapehead/train/benchmark.h"
#include "tapehead/train/config_fields.h"

namespace tapehead::app {

namespace {

double a_second(double count, const Benchmark& result) { return count / result.step_seconds.median; }

/// One op's part of a profile, in milliseconds a step, summed over threads.
struct OpTime {
  std::string name;
  Index calls;
  double forward;
  double backward;
  double share;  ///< of all ops' time
};

/// The longest first.
std::vector<OpTime> op_times(const Benchmark& result) {
  double all = 0;
  for (const Profile::Entry& entry : result.profile.entries()) all += entry.forward + entry.backward;
  const double steps = static_cast<double>(result.profiled_steps);
  std::vector<OpTime> times;
  for (const Profile::Entry& entry : result.profile.entries())
    times.push_back({std::string(entry.name), entry.calls / result.profiled_steps,
                     1000 * entry.forward / steps, 1000 * entry.backward / steps,
                     (entry.forward + entry.backward) / all});
  std::stable_sort(times.begin(), times.end(),
                   [](const OpTime& a, const OpTime& b) { return a.share > b.share; });
  return times;
}

/// What a step sends; the clock is this command's own.
std::vector<Ranks::Traffic> traffic_of_steps(const Benchmark& result) {
  std::vector<Ranks::Traffic> traffic = result.traffic;
  std::erase_if(traffic, [](const Ranks::Traffic& call) { return call.what == "clock"; });
  return traffic;
}

void print_json(const std::string& config, const Workers& workers, const Benchmark& result) {
  nlohmann::ordered_json document{{"config", config},
                                  {"ranks", workers.ranks.count()},
                                  {"threads", workers.threads},
                                  {"steps", result.steps},
                                  {"ms_per_step", 1000 * result.step_seconds.median},
                                  {"ms_low", 1000 * result.step_seconds.low},
                                  {"ms_high", 1000 * result.step_seconds.high},
                                  {"tokens_per_second", a_second(static_cast<double>(result.tokens), result)},
                                  {"operations_per_step", result.operations},
                                  {"gflops", a_second(static_cast<double>(result.operations), result) * 1e-9},
                                  {"peak_gflops", result.peak_operations * 1e-9},
                                  {"peak_memory_bytes", result.peak_bytes},
                                  {"communication", nlohmann::ordered_json::array()},
                                  {"ops", nlohmann::ordered_json::array()}};
  for (const Ranks::Traffic& call : traffic_of_steps(result))
    document["communication"].push_back({{"what", call.what},
                                         {"calls", call.calls / result.steps},
                                         {"bytes", call.bytes / result.steps},
                                         {"ms", 1000 * call.seconds / static_cast<double>(result.steps)}});
  for (const OpTime& op : op_times(result))
    document["ops"].push_back({{"name", op.name},
                               {"calls", op.calls},
                               {"forward_ms", op.forward},
                               {"backward_ms", op.backward},
                               {"share", op.share}});
  std::cout << json_text(document);
}

/// What rank 0 sends in a step, and how long that holds it up.
std::string traffic_table(const Benchmark& result) {
  TextTable table({"rank 0 sends", "calls a step", "bytes a step", "ms"});
  Ranks::Traffic all{.what = "all"};
  const auto add = [&](const Ranks::Traffic& call) {
    table.add({call.what, grouped(call.calls / result.steps), grouped(call.bytes / result.steps),
               decimals(1000 * call.seconds / static_cast<double>(result.steps), 3)});
  };
  for (const Ranks::Traffic& call : traffic_of_steps(result)) {
    add(call);
    all.calls += call.calls;
    all.bytes += call.bytes;
    all.seconds += call.seconds;
  }
  add(all);
  return table.text() + "(with the wait for the slowest rank)\n\n";
}

void print_table(const std::string& config, const Workers& workers, const Benchmark& result) {
  const double flops = a_second(static_cast<double>(result.operations), result);
  std::cout << fmt::format(
      "{}, {} step{} on {}{} thread{}:\n"
      "  {} ms a step (median; quartiles {} and {})\n"
      "  {} tokens a second\n"
      "  {} GFLOP/s in matrix products, {} % of the {} that products in the cache reach here\n"
      "  {} of arrays at the peak\n\n",
      config, result.steps, result.steps == 1 ? "" : "s",
      workers.ranks.alone() ? std::string() : fmt::format("{} ranks of ", workers.ranks.count()),
      workers.threads, workers.threads == 1 ? "" : "s", decimals(1000 * result.step_seconds.median, 3),
      decimals(1000 * result.step_seconds.low, 3), decimals(1000 * result.step_seconds.high, 3),
      grouped(static_cast<Index>(a_second(static_cast<double>(result.tokens), result))),
      decimals(flops * 1e-9, 1), decimals(100 * flops / result.peak_operations, 0),
      decimals(result.peak_operations * 1e-9, 1), mebibytes(result.peak_bytes));
  if (!workers.ranks.alone()) std::cout << traffic_table(result);
  TextTable table({"op", "calls a step", "forward ms", "backward ms", "share"});
  for (const OpTime& op : op_times(result))
    table.add({op.name, grouped(op.calls), decimals(op.forward, 3), decimals(op.backward, 3),
               decimals(100 * op.share, 1) + " %"});
  std::cout << table.text()
            << fmt::format("(times of all threads {}together, from steps of their own)\n",
                           workers.ranks.alone() ? "" : "of rank 0 ");
}

}  // namespace

int bench_command(const Words& words) {
  Arguments arguments("bench", "How fast a config trains, and where the time goes. Nothing is written.",
                      "CONFIG");
  arguments.options()("set", "another value for one field of the config; may be repeated",
                      cxxopts::value<std::vector<std::string>>(), "table.key=value");
  arguments.options()("seconds", "how long to time steps (default: 2), and again to see where it goes",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("steps", "how many steps instead", cxxopts::value<std::string>(), "N");
  arguments.add_threads("shards are shared out over them");
  arguments.add_json();
  if (!arguments.parse(words)) return 0;
  const std::string file = arguments.positional();
  const Config config = with_drawn_weights(read_config(file, arguments.texts("set")));
  const Workers workers = arguments.workers();
  const Benchmark result =
      benchmark(config, {.workers = workers,
                         .seconds = arguments.has("seconds") ? arguments.positive("seconds") : 2,
                         .steps = arguments.has("steps") ? arguments.number("steps", 1) : 0});
  if (arguments.flag("json"))
    print_json(file, workers, result);
  else
    print_table(file, workers, result);
  return 0;
}

}  // namespace tapehead::app
