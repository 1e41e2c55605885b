#include "tapehead/base/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "support/folder.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// While it lives, no file of this process grows beyond `bytes`: the disk is full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("a mapped file is its bytes, and an empty file has none") {
  const Folder folder;
  put(folder / "text", std::string("a\0b\n", 4));
  put(folder / "empty", "");
  CHECK(MappedFile(folder / "text", "test").bytes() == std::string_view("a\0b\n", 4));
  CHECK(MappedFile(folder / "empty", "test").bytes().empty());
}

TEST_CASE("a mapped file keeps its bytes when another takes its place") {
  const Folder folder;
  put(folder / "text", "old");
  const MappedFile mapped(folder / "text", "test");
  replace_file(folder / "text", "new and longer", "test");
  CHECK(mapped.bytes() == "old");
  CHECK(text_of(folder / "text") == "new and longer");
}

TEST_CASE("what is no regular file is not mapped, and nobody waits for it") {
  const Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(failure_of([&] { MappedFile(folder / "pipe", "test"); }).find("[test] cannot read") == 0);
  CHECK(failure_of([&] { MappedFile(folder / "pipe", "test"); }).find("not a regular file") !=
        std::string::npos);
  CHECK(failure_of([&] { MappedFile(folder.path(), "test"); }).find("not a regular file") !=
        std::string::npos);
  CHECK(failure_of([&] { MappedFile(folder / "none", "test"); }).find("No such file") != std::string::npos);
}

TEST_CASE("a replacement that is not put in place leaves the old file and nothing else") {
  const Folder folder;
  put(folder / "text", "old");
  {
    ReplacementFile file(folder / "text", "test");
    file.write("half of it");
    CHECK(text_of(folder / "text") == "old");
  }
  CHECK(text_of(folder / "text") == "old");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"text"});
}

TEST_CASE(
    "what a killed replacement leaves behind is known by its name, and other files are not taken for it") {
  const Folder folder;
  ReplacementFile file(folder / "text", "test");
  const std::vector<std::string> names = names_in(folder.path());
  REQUIRE(names.size() == 1);
  CHECK(is_abandoned_replacement(folder / names[0]));
  for (const char* name : {"text", "text.tmp-", "text.tmp-1-x", "text.tmp-2020", "text.tmp-1-", "text.tmp--1",
                           ".tmp-1-2", "tmp-1-2", "text.tmp"}) {
    CAPTURE(name);
    CHECK_FALSE(is_abandoned_replacement(name));
  }
}

TEST_CASE("only a regular file is replaced: folders, pipes and devices stay what they are") {
  const Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_directory(folder / "folder");
  std::filesystem::create_symlink("pipe", folder / "link");
  using Names = std::pair<const char*, const char*>;
  for (const Names& names : {Names{"pipe", "pipe"}, {"folder", "folder"}, {"link", "pipe"}})
    CHECK(failure_of([&] { replace_file(folder / names.first, "x", "test"); }) ==
          "[test] cannot write " + (folder / names.second).string() +
              ": it is no regular file, and only such a file is replaced");
  CHECK_THROWS_AS(replace_file("/dev/null", "x", "test"), Error);
  CHECK(std::filesystem::is_character_file("/dev/null"));
  CHECK(names_in(folder.path()) == std::vector<std::string>{"folder", "link", "pipe"});
}

TEST_CASE("a link to a file stays, and the file behind it is replaced") {
  const Folder folder;
  std::filesystem::create_directory(folder / "elsewhere");
  put(folder / "elsewhere" / "text", "old");
  std::filesystem::create_symlink("elsewhere/text", folder / "link");
  replace_file(folder / "link", "new", "test");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(text_of(folder / "elsewhere" / "text") == "new");
  CHECK(names_in(folder / "elsewhere") == std::vector<std::string>{"text"});
}

TEST_CASE("a disk that is full refuses a new file, and the old one stays") {
  const Folder folder;
  put(folder / "text", "old");
  const FullDisk full(4096);
  const std::string complaint =
      failure_of([&] { replace_file(folder / "text", std::string(10000, 'x'), "test"); });
  CHECK(complaint.find("[test] cannot write " + (folder / "text").string()) == 0);
  CHECK(text_of(folder / "text") == "old");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"text"});
}

TEST_CASE("text is added to a file whole or not at all") {
  const Folder folder;
  append_to_file(folder / "text", "one\n", "test");
  append_to_file(folder / "text", "two\n", "test");
  CHECK(text_of(folder / "text") == "one\ntwo\n");
  const FullDisk full(10);
  CHECK(failure_of([&] { append_to_file(folder / "text", "three\n", "test"); }).find("[test] cannot write") ==
        0);
  CHECK(text_of(folder / "text") == "one\ntwo\n");
}

TEST_CASE("a file in a folder that is not there, or that may not be written, is refused with the reason") {
  const Folder folder;
  CHECK(failure_of([&] { replace_file(folder / "none/text", "x", "test"); }).find("No such file") !=
        std::string::npos);
  CHECK(failure_of([&] { append_to_file(folder / "none/text", "x", "test"); }).find("No such file") !=
        std::string::npos);
  CHECK(failure_of([&] { flush_file(folder / "none", "test"); }).find("cannot flush") != std::string::npos);
}
