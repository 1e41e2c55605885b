#include <fcntl.h>
#include <fmt/core.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <thread>

#include "tapehead/app/commands.h"
#include "tapehead/base/nearest.h"
#include "tapehead/base/ranks.h"
#include "tapehead/base/require.h"
#include "tapehead/base/version.h"

namespace tapehead::app {

namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongCall = 2;

void print_help() {
  fmt::print(
      "Trains small transformers on a tape, watches induction heads form, and takes them apart.\n\n"
      "Usage: tapehead COMMAND [OPTION...]\n\n");
  for (const Command& command : commands()) fmt::print("  {:10} {}\n", command.name, command.summary);
  fmt::print(
      "\ntapehead COMMAND --help tells more; tapehead --version says which this is.\n"
      "Exit status: 0 done, 1 failed while running, 2 wrong call or wrong config.\n");
}

/// What of a call decides which steps ranks take together: the command, and whether it only helps or goes on.
std::string way_of(const Words& words) {
  std::string way = words.empty() ? std::string("nothing") : words[0];
  for (const auto& [option, name] :
       {std::pair("--help", " --help"), std::pair("-h", " --help"), std::pair("--resume", " --resume")})
    for (std::size_t i = 1; i < words.size(); ++i)
      if (words[i] == option || words[i].starts_with(std::string(option) + "=")) way += name;
  return way;
}

/// Only rank 0 speaks. The first thing that ranks do together is to see that all do the same.
void take_part(const Words& words, Ranks& ranks) {
  if (ranks.alone()) return;
  if (!ranks.leads()) {
    spdlog::set_level(spdlog::level::err);
    if (std::freopen("/dev/null", "w", stdout) == nullptr) throw Error("cannot open /dev/null");
  }
  const std::vector<std::string> ways = ranks.gather(way_of(words), "command");
  for (int rank = 1; rank < ranks.count(); ++rank)
    if (const std::string& theirs = ways[static_cast<std::size_t>(rank)]; theirs != ways[0])
      throw UsageError(
          fmt::format("[ranks] {} was called with {}, and rank 0 with {}; give every rank the same call",
                      ranks.name(rank), theirs, ways[0]));
}

/// Only some commands are work for several ranks.
void require_joint(const Ranks& ranks, const Command& command) {
  if (!ranks.alone() && !command.joint)
    throw UsageError(fmt::format("{} works in one process; start it without mpirun", command.name));
}

int run(const Words& words, Ranks& ranks) {
  take_part(words, ranks);
  if (words.empty()) {
    print_help();
    return kWrongCall;
  }
  const bool help = words[0] == "--help" || words[0] == "-h";
  if (help || words[0] == "--version") {
    if (words.size() > 1)
      throw UsageError(fmt::format("'{}' is one argument too many after {}", words[1], words[0]));
    if (help)
      print_help();
    else
      fmt::print("tapehead {}\n", version());
    return kDone;
  }
  std::vector<std::string_view> names;
  for (const Command& command : commands()) {
    names.push_back(command.name);
    if (command.name != words[0]) continue;
    require_joint(ranks, command);
    return command.run({words.begin() + 1, words.end()});
  }
  throw UsageError(fmt::format("no command '{}'; the nearest is '{}'; see tapehead --help", words[0],
                               nearest(words[0], names)));
}

/// Says what went wrong and ends the whole job: the other ranks may wait for this one. Where all fail alike,
/// rank 0 speaks for them, and ends them before they do.
int give_up(Ranks* ranks, int status, const std::string& failure) {
  const bool several = ranks != nullptr && !ranks->alone();
  if (several && !ranks->leads()) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    spdlog::error("{}: {}", ranks->name(ranks->rank()), failure);
  } else {
    spdlog::error(failure);
  }
  if (several) ranks->abort(status);
  return status;
}

/// The only place that catches.
int run_and_report(const Words& words) {
  Ranks* ranks = nullptr;
  try {
    ranks = &Ranks::of_this_job();
    const int status = run(words, *ranks);
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0) throw Error("cannot write to standard output");
    ranks->leave();
    return status;
  } catch (const UsageError& error) {
    return give_up(ranks, kWrongCall, error.what());
  } catch (const std::bad_alloc&) {
    return give_up(ranks, kFailed, "not enough memory; make the model, the batch or the shards smaller");
  } catch (const std::filesystem::filesystem_error& error) {
    return give_up(ranks, kFailed, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const InternalError& error) {
    return give_up(ranks, kFailed,
                   fmt::format("{} (this is a fault of Tapehead's own: please report it)", error.what()));
  } catch (const std::exception& error) {
    return give_up(ranks, kFailed, error.what());
  }
}

}  // namespace

}  // namespace tapehead::app

int main(int argc, char** argv) {
  // A closed standard stream must not become the first file that is opened.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDONLY));
  spdlog::set_default_logger(spdlog::stderr_color_mt("tapehead"));
  spdlog::set_pattern("%^%l%$: %v");
  return tapehead::app::run_and_report({argv + 1, argv + argc});
}
