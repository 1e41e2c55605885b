#include "tapehead/train/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_taken(const fs::path& folder) {
  std::string owner;
  std::getline(std::ifstream(folder / kLockFile), owner);
  throw UsageError(fmt::format("[run] process {} is writing into {}; wait until it is done, or stop it",
                               owner, folder.string()));
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder, IfTaken if_taken)
    : file_(::open((folder / kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
  const int wait = if_taken == IfTaken::wait ? 0 : LOCK_NB;
  if (file_.get() >= 0 && ::flock(file_.get(), LOCK_EX | wait) == 0) {
    const std::string owner = fmt::format("{}\n", ::getpid());
    if (::ftruncate(file_.get(), 0) == 0 &&
        ::pwrite(file_.get(), owner.data(), owner.size(), 0) == static_cast<ssize_t>(owner.size()))
      return;
  }
  if (errno == EWOULDBLOCK) throw_taken(folder);
  throw Error(fmt::format("[run] cannot lock {}: {}", (folder / kLockFile).string(),
                          std::generic_category().message(errno)));
}

void FolderLock::require_free(const fs::path& folder) {
  const Descriptor file(::open((folder / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() >= 0 && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw_taken(folder);
}

bool FolderLock::is_in(const fs::path& folder) const {
  struct stat held {};
  struct stat there {};
  return ::fstat(file_.get(), &held) == 0 && ::stat((folder / kLockFile).c_str(), &there) == 0 &&
         held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

}  // namespace tapehead
