/// Reference data that the project does not carry: what others computed, and the files of real models.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

namespace tapehead::testing {

/// A file or folder of the reference data. Nothing where it is not there; that is then said, in the words
/// that ctest counts as skipped, and the test is to return.
inline std::optional<std::filesystem::path> reference_data(const std::string& name) {
  const char* folder = std::getenv("TAPEHEAD_REFERENCE_DATA");
  if (folder == nullptr || *folder == '\0') {
    std::cout << "SKIPPED: TAPEHEAD_REFERENCE_DATA does not name a folder with " << name << "\n";
    return std::nullopt;
  }
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  if (std::filesystem::exists(path)) return path;
  std::cout << "SKIPPED: there is no " << path.string() << "\n";
  return std::nullopt;
}

}  // namespace tapehead::testing
