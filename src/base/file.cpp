#include "tapehead/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr std::string_view kTemporary = ".tmp-";

[[noreturn]] void fail(std::string_view tag, std::string_view action, const std::string& path, int code) {
  throw Error(fmt::format("[{}] cannot {} {}: {}", tag, action, path, std::generic_category().message(code)));
}

/// Writes all of it, or returns the system's reason.
int write_all(int file, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(file, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return 0;
}

/// The file itself, of a link to one.
std::filesystem::path behind_link(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_symlink(path, ignored) ? std::filesystem::weakly_canonical(path, ignored) : path;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

}  // namespace

Descriptor::~Descriptor() {
  if (value_ >= 0) ::close(value_);
}

void MappedFile::Unmap::operator()(const char* address) const noexcept {
  ::munmap(const_cast<char*>(address), size);
}

MappedFile::MappedFile(const std::filesystem::path& path, std::string_view tag)
    : address_(nullptr, Unmap{0}) {
  const std::string name = path.string();
  // Opening a named pipe would wait for a writer without O_NONBLOCK.
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) fail(tag, "read", name, errno);
  require(S_ISREG(status.st_mode), "[{}] cannot read {}: it is not a regular file", tag, name);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;  // which no mapping can have
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail(tag, "read", name, errno);
  address_ = {static_cast<const char*>(address), Unmap{size}};
}

ReplacementFile::ReplacementFile(const std::filesystem::path& path, std::string_view tag)
    : path_(behind_link(path).string()),
      tag_(tag),
      folder_(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      file_(folder_.get() < 0 ? -1 : create()) {
  if (file_.get() < 0) fail(tag_, "write", path_, errno);
}

int ReplacementFile::create() {
  static std::atomic<unsigned> count{0};
  // A device or a pipe would be gone for good, also from where others look for it.
  std::error_code ignored;
  const auto type = std::filesystem::status(path_, ignored).type();
  require(type == std::filesystem::file_type::regular || type == std::filesystem::file_type::not_found ||
              type == std::filesystem::file_type::none,
          "[{}] cannot write {}: it is no regular file, and only such a file is replaced", tag_, path_);
  for (;;) {
    temporary_ = fmt::format("{}{}{}-{}", path_, kTemporary, ::getpid(), count++);
    const int file = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
}

ReplacementFile::~ReplacementFile() {
  if (file_.get() >= 0 && !in_place_) ::unlink(temporary_.c_str());
}

void ReplacementFile::write(const void* data, std::size_t bytes) {
  if (const int refusal = write_all(file_.get(), data, bytes)) fail(tag_, "write", path_, refusal);
}

void ReplacementFile::put_in_place() {
  if (::fsync(file_.get()) != 0) fail(tag_, "write", path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(tag_, "write", path_, errno);
  in_place_ = true;
  // The new name itself must reach the disk. Some file systems cannot flush a folder and answer EINVAL.
  if (::fsync(folder_.get()) != 0 && errno != EINVAL) fail(tag_, "flush the folder of", path_, errno);
}

void replace_file(const std::filesystem::path& path, std::string_view text, std::string_view tag) {
  ReplacementFile file(path, tag);
  file.write(text);
  file.put_in_place();
}

void append_to_file(const std::filesystem::path& path, std::string_view text, std::string_view tag) {
  const std::string name = path.string();
  const Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  struct stat before {};
  if (file.get() < 0 || ::fstat(file.get(), &before) != 0) fail(tag, "write", name, errno);
  const int refusal = write_all(file.get(), text.data(), text.size());
  if (refusal == 0) return;
  // What is left of the text is no line; if even that cannot be cut off, readers skip it.
  [[maybe_unused]] const int cut = ::ftruncate(file.get(), before.st_size);
  fail(tag, "write", name, refusal);
}

void flush_file(const std::filesystem::path& path, std::string_view tag) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || ::fsync(file.get()) != 0) fail(tag, "flush", path.string(), errno);
}

bool is_abandoned_replacement(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::size_t at = name.rfind(kTemporary);
  if (at == std::string::npos || at == 0) return false;
  const std::string numbers = name.substr(at + kTemporary.size());
  const std::size_t dash = numbers.find('-');
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  };
  return dash != std::string::npos && is_number(numbers.substr(0, dash)) &&
         is_number(numbers.substr(dash + 1));
}

}  // namespace tapehead
