/// Who writes into a folder has it locked, so that no two programs do; readers need no lock. It goes with its
/// program, however that ends.
#pragma once

#include <filesystem>
#include <string_view>

#include "tapehead/base/file.h"

namespace tapehead {

/// The file in the folder that is locked, and holds the number of the process that has it.
inline constexpr std::string_view kLockFile = ".lock";

class FolderLock {
 public:
  /// Locks a folder that is there. If another has it, throws UsageError, naming the process, or waits. Throws
  /// Error where nothing can be locked.
  enum class IfTaken { refuse, wait };
  explicit FolderLock(const std::filesystem::path& folder, IfTaken if_taken = IfTaken::refuse);
  /// Throws UsageError, naming the process, if somebody has the folder.
  static void require_free(const std::filesystem::path& folder);

  /// Whether the file that is locked is still the one in that folder.
  bool is_in(const std::filesystem::path& folder) const;

 private:
  Descriptor file_;
};

}  // namespace tapehead
