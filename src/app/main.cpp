#include <fcntl.h>
#include <fmt/core.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include <iostream>

#include "tapehead/app/commands.h"
#include "tapehead/base/nearest.h"
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

int run(const Words& words) {
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
    if (command.name == words[0]) return command.run({words.begin() + 1, words.end()});
    names.push_back(command.name);
  }
  throw UsageError(fmt::format("no command '{}'; the nearest is '{}'; see tapehead --help", words[0],
                               nearest(words[0], names)));
}

/// The only place that catches.
int run_and_report(const Words& words) {
  try {
    const int status = run(words);
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0) throw Error("cannot write to standard output");
    return status;
  } catch (const UsageError& error) {
    spdlog::error(error.what());
    return kWrongCall;
  } catch (const std::bad_alloc&) {
    spdlog::error("not enough memory; make the model, the batch or the shards smaller");
  } catch (const std::filesystem::filesystem_error& error) {
    spdlog::error("{}: {}", error.path1().string(), error.code().message());
  } catch (const InternalError& error) {
    spdlog::error("{} (this is a fault of Tapehead's own: please report it)", error.what());
  } catch (const std::exception& error) {
    spdlog::error(error.what());
  }
  return kFailed;
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
