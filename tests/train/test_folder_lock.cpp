#include "tapehead/train/folder_lock.h"

#include <unistd.h>

#include <optional>

#include "support/folder.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("a folder is locked once, by a process that is named, until the lock goes") {
  const Folder folder;
  FolderLock::require_free(folder.path());  // without such a file, too
  std::optional<FolderLock> lock(folder.path());
  const std::string taken = fmt::format("process {} is writing into {}", ::getpid(), folder.path().string());
  CHECK_THROWS_WITH_AS(FolderLock(folder.path()), doctest::Contains(taken.c_str()), UsageError);
  CHECK_THROWS_WITH_AS(FolderLock::require_free(folder.path()), doctest::Contains(taken.c_str()), UsageError);
  CHECK(lock->is_in(folder.path()));
  lock.reset();
  FolderLock::require_free(folder.path());
  FolderLock again(folder.path());
  CHECK(again.is_in(folder.path()));
}

TEST_CASE(
    "a lock is no longer in a folder that was put in another's place, and none in a folder that is not") {
  const Folder folder;
  const FolderLock lock(folder.path());
  std::filesystem::remove(folder.path() / kLockFile);
  CHECK_FALSE(lock.is_in(folder.path()));
  put(folder.path() / kLockFile, "");
  CHECK_FALSE(lock.is_in(folder.path()));
  CHECK_THROWS_WITH_AS(FolderLock(folder / "none"), doctest::Contains("cannot lock"), Error);
}
