#include "tapehead/app/output_file.h"

#include "tapehead/base/require.h"

namespace tapehead::app {

namespace fs = std::filesystem;

void require_writable(const fs::path& file, std::string_view option, const OutputKind& kind) {
  if (file.empty() || file == "-")
    throw UsageError(fmt::format("{}: expected the name of a file for the {}, got '{}'", option, kind.name,
                                 file.string()));
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  require(fs::is_directory(folder, ignored), "[{}] cannot write {}: there is no folder {}", kind.name,
          file.string(), folder.string());
  if (!fs::exists(file, ignored)) return;
  try {
    kind.look_at(file);
  } catch (const Error&) {
    throw UsageError(fmt::format("{}: {} is there, and is no {} that could be replaced; name another file",
                                 option, file.string(), kind.name));
  }
}

}  // namespace tapehead::app
