#include "tapehead/base/machine.h"

#include <fmt/core.h>

#include <fstream>
#include <thread>

namespace tapehead {

std::string processor() {
  std::ifstream list("/proc/cpuinfo");
  for (std::string line; std::getline(list, line);)
    if (line.starts_with("model name"))
      if (const std::size_t name = line.find_first_not_of(": \t", line.find(':')); name != std::string::npos)
        return line.substr(name);
  return "unknown processor";
}

std::string machine() {
  const unsigned threads = std::thread::hardware_concurrency();
  return fmt::format("{}, {} thread{}", processor(), threads, threads == 1 ? "" : "s");
}

}  // namespace tapehead
