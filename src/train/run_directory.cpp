#include "tapehead/train/run_directory.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfig = "config.toml";
constexpr std::string_view kCheckpoints = "checkpoints";
constexpr std::string_view kCheckpointPrefix = "step-";
constexpr std::string_view kCheckpointSuffix = ".safetensors";

/// Turns the system's refusals into errors that say what was being done.
template <class Action>
void on_disk(const fs::path& path, const Action& action) {
  try {
    action();
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("[run] cannot use {}: {}", path.string(), error.code().message()));
  }
}

bool is_run(const fs::path& path) { return fs::is_regular_file(path / kConfig); }

/// Other programs have a config.toml too; what they keep is not for us to remove.
bool may_be_replaced(const fs::path& path) { return is_run(path) && fs::is_directory(path / kCheckpoints); }

/// Removes what a run writes, and nothing else that somebody may have put there.
void remove_run_files(const fs::path& path) {
  for (const char* name : {"config.toml", "metrics.csv", "heads.csv", "ablation.csv"})
    fs::remove(path / name);
  for (const char* name : {"checkpoints", "figures"}) fs::remove_all(path / name);
}

}  // namespace

RunDirectory::RunDirectory(fs::path path, Config config)
    : path_(std::move(path)), config_(std::move(config)) {}

RunDirectory RunDirectory::create(const fs::path& path, const Config& config, bool overwrite) {
  const std::string text = to_toml(config);
  on_disk(path, [&] {
    if (fs::exists(path) && !(fs::is_directory(path) && fs::is_empty(path))) {
      if (!may_be_replaced(path))
        throw UsageError(
            fmt::format("[run] {} exists and is not a run; choose another with --out", path.string()));
      if (!overwrite)
        throw UsageError(
            fmt::format("[run] {} holds a run already; choose another with --out, go on with --resume, "
                        "or replace it with --overwrite",
                        path.string()));
      remove_run_files(path);
    }
    fs::create_directories(path / kCheckpoints);
  });
  std::ofstream out(path / kConfig, std::ios::binary);
  out << text << std::flush;
  require(out.good(), "[run] cannot write {}", (path / kConfig).string());
  return RunDirectory(path, config);
}

RunDirectory RunDirectory::open(const fs::path& path) {
  if (!is_run(path))
    throw UsageError(fmt::format("[run] {} is not a run: it has no {}; make one with `tapehead train CONFIG`",
                                 path.string(), kConfig));
  return RunDirectory(path, read_config(path / kConfig));
}

fs::path RunDirectory::checkpoint_file(Index step) const {
  return path_ / kCheckpoints / fmt::format("{}{:06}{}", kCheckpointPrefix, step, kCheckpointSuffix);
}

std::vector<Index> RunDirectory::checkpoint_steps() const {
  std::vector<Index> steps;
  if (!fs::is_directory(path_ / kCheckpoints)) return steps;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ / kCheckpoints)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kCheckpointPrefix) || !name.ends_with(kCheckpointSuffix)) continue;
    const char* first = name.data() + kCheckpointPrefix.size();
    const char* last = name.data() + name.size() - kCheckpointSuffix.size();
    Index step = 0;
    const auto [end, error] = std::from_chars(first, last, step);
    if (error == std::errc() && end == last) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

fs::path RunDirectory::latest_checkpoint() const {
  const std::vector<Index> steps = checkpoint_steps();
  require(!steps.empty(), "[run] {} has no checkpoint yet", path_.string());
  return checkpoint_file(steps.back());
}

}  // namespace tapehead
