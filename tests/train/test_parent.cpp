#include "tapehead/train/parent.h"

#include <sys/stat.h>

#include "support/folder.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("a parent is read back as it was written, whatever letters its path has") {
  const Folder folder;
  const auto file = folder / "parent.toml";
  CHECK_FALSE(read_parent(file).has_value());
  for (const char* path : {"../base", "", "a \"b\" \\ c", "../größe/学"}) {
    CAPTURE(path);
    write_parent(file, {path, 1234});
    const std::optional<Parent> parent = read_parent(file);
    REQUIRE(parent.has_value());
    CHECK(parent->path == path);
    CHECK(parent->step == 1234);
  }
  CHECK(complaint_of([&] { write_parent(file, {"a\nb", 1}); }).starts_with("[fork] the path of the run"));
}

TEST_CASE("a file that does not name a parent is refused by name") {
  const Folder folder;
  const auto file = folder / "parent.toml";
  for (const char* text :
       {"", "path = \"x\"\n", "step = 3\n", "path = \"x\"\nstep = -1\n", "path = \"x\"\nstep = 1.5\n",
        "path = 3\nstep = 3\n", "path = \"x\"\nstep = 3\nother = 1\n", "path = \"x\"\nstep = 99999999999\n",
        "path = \"\\u001B[31m\"\nstep = 3\n"}) {
    CAPTURE(text);
    put(file, text);
    CHECK(complaint_of([&] { read_parent(file); }).starts_with(file.string() + ": expected path = "));
  }
  put(file, "[");
  CHECK(complaint_of([&] { read_parent(file); }).starts_with(file.string() + ":1:"));
  std::filesystem::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  CHECK(complaint_of([&] { read_parent(file); }) == file.string() + ": expected a file");
}
