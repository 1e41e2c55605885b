/// A file that the user names for the program to write, looked at before the work begins.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace tapehead::app {

/// What such a file is: "page", and a look at one that is there, which throws Error if it is none.
struct OutputKind {
  std::string_view name;
  std::function<void(const std::filesystem::path& file)> look_at;
};

/// Only a file of its kind is replaced: a slip of the hand costs no run's config. Throws UsageError, naming
/// the option, for no name and where something else is there, and Error where the folder is not.
void require_writable(const std::filesystem::path& file, std::string_view option, const OutputKind& kind);

}  // namespace tapehead::app
