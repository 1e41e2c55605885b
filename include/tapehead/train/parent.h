/// Where a run came from that did not begin by itself: a fork's parent.toml.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tapehead/base/number.h"

namespace tapehead {

/// The run of which another goes on, and the step of the checkpoint it begins from. Of the tables that runs
/// write as they train, the rows up to there are the parent's, made under the parent's config.
struct Parent {
  std::string path;  ///< of the parent's folder, as seen from the child's
  Index step = 0;
};

/// Throws Error if the disk refuses, and UsageError for a path that is not plain text.
void write_parent(const std::filesystem::path& file, const Parent& parent);

/// What the file says; nothing if it is not there. Throws UsageError for a file that says something else.
std::optional<Parent> read_parent(const std::filesystem::path& file);

}  // namespace tapehead
