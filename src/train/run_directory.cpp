#include "tapehead/train/run_directory.h"

#include <algorithm>
#include <charconv>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfig = "config.toml";
constexpr std::string_view kCheckpoints = "checkpoints";
constexpr std::string_view kTokenizer = "tokenizer";
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
bool may_be_replaced(const fs::path& path) {
  return is_run(path) && (fs::is_directory(path / kCheckpoints) || fs::exists(path / kLockFile));
}

/// Whether a file of this name is a table of a run.
bool is_table(const fs::path& name) {
  return name.extension() == ".csv" &&
         std::ranges::find(kRunTables, std::string_view(name.stem().string())) != kRunTables.end();
}

/// Whether a run may begin here: nothing is there, or what is left of a run that was killed as it began.
bool is_free(const fs::path& path) {
  if (!fs::exists(path)) return true;
  if (!fs::is_directory(path)) return false;
  const bool begun = fs::exists(path / kLockFile);
  return std::ranges::all_of(fs::directory_iterator(path), [&](const fs::directory_entry& entry) {
    const fs::path name = entry.path().filename();
    return begun && (name == kLockFile || name == kCheckpoints || name == kTokenizer || name == kParentFile ||
                     is_table(name) || is_abandoned_replacement(name));
  });
}

void require_place(const fs::path& path, bool overwrite) {
  if (is_free(path)) return;
  if (!may_be_replaced(path))
    throw UsageError(
        fmt::format("[run] {} exists and is not a run; choose another with --out", path.string()));
  if (!overwrite)
    throw UsageError(
        fmt::format("[run] {} holds a run already; choose another with --out, go on with --resume, "
                    "or replace it with --overwrite",
                    path.string()));
}

/// Removes what a run writes, and nothing else that somebody may have put there. The config stays until the
/// new one takes its place: killed before, what is left is still a run.
void remove_run_files(const fs::path& path) {
  for (const std::string_view name : {kCheckpoints, kTokenizer, kTwinFolder, std::string_view("figures")})
    fs::remove_all(path / name);
  for (const std::string_view name : {kParentFile, kPageFile}) fs::remove(path / name);
  for (const std::string_view name : kRunTables) fs::remove(path / (std::string(name) + ".csv"));
}

void remove_abandoned(const fs::path& folder) {
  std::vector<fs::path> abandoned;
  if (!fs::is_directory(folder)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && is_abandoned_replacement(entry.path())) abandoned.push_back(entry.path());
  for (const fs::path& file : abandoned) fs::remove(file);
}

}  // namespace

RunDirectory::RunDirectory(fs::path path, Config config, std::shared_ptr<const FolderLock> lock)
    : path_(std::move(path)), config_(std::move(config)), lock_(std::move(lock)) {}

RunDirectory RunDirectory::create(const fs::path& path, const Config& config, bool overwrite,
                                  const std::function<void(const RunDirectory&)>& fill) {
  const std::string text = to_toml(config);
  std::shared_ptr<const FolderLock> held;
  on_disk(path, [&] {
    require_place(path, overwrite);
    fs::create_directories(path);
    held = std::make_shared<const FolderLock>(path);
    // Another program may have been faster.
    require_place(path, overwrite);
    remove_run_files(path);
    remove_abandoned(path);
    fs::create_directories(path / kCheckpoints);
  });
  RunDirectory run(path, config, held);
  if (fill) fill(run);
  replace_file(path / kConfig, text, "run");
  return run;
}

bool RunDirectory::stands_at(const fs::path& path) { return is_run(path); }

RunDirectory RunDirectory::open(const fs::path& path) {
  if (!is_run(path))
    throw UsageError(fmt::format("[run] {} is not a run: it has no {}; make one with `tapehead train CONFIG`",
                                 path.string(), kConfig));
  return RunDirectory(path, read_config(path / kConfig));
}

RunDirectory RunDirectory::open_for_writing(const fs::path& path) {
  open(path);
  const auto held = std::make_shared<const FolderLock>(path);
  on_disk(path, [&] {
    fs::create_directories(path / kCheckpoints);
    for (const fs::path& folder : {path, path / kCheckpoints, path / kTokenizer}) remove_abandoned(folder);
  });
  return RunDirectory(path, open(path).config(), held);
}

fs::path RunDirectory::table_file(std::string_view name) const {
  ensure(std::ranges::find(kRunTables, name) != kRunTables.end(), "a run has no table {}", name);
  return path_ / (std::string(name) + ".csv");
}

void RunDirectory::require_held() const {
  require(lock_ == nullptr || (lock_->is_in(path_) && is_run(path_)),
          "[run] {} was removed or replaced while it was being written; nothing more is written into it",
          path_.string());
}

void RunDirectory::require_no_writer() const {
  if (lock_ == nullptr) FolderLock::require_free(path_);
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
    const bool is_step = error == std::errc() && end == last && checkpoint_file(step).filename() == name;
    if (is_step) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Index RunDirectory::latest_step() const {
  const std::vector<Index> steps = checkpoint_steps();
  require(!steps.empty(), "[run] {} has no checkpoint yet", path_.string());
  return steps.back();
}

}  // namespace tapehead
