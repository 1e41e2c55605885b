/// Files as this program treats them: looked at through a mapping, replaced whole or not at all.
///
/// Every refusal of the system is an Error that says what was being done, to which file, and the system's own
/// reason. What is in a file is not decided here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tapehead {

/// An open file or folder, closed when it goes; negative where there is none.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor();

  int get() const { return value_; }

 private:
  int value_;
};

/// The bytes of a regular file, of which the system reads only what is looked at. The file must not be
/// shortened or written into meanwhile; replacing it is fine. `tag` begins every message: "safetensors".
class MappedFile {
 public:
  MappedFile(const std::filesystem::path& path, std::string_view tag);

  std::string_view bytes() const { return {address_.get(), address_.get_deleter().size}; }

 private:
  struct Unmap {
    std::size_t size;
    void operator()(const char* address) const noexcept;
  };
  std::unique_ptr<const char[], Unmap> address_;
};

/// A file in the making, beside the one whose place it takes: a reader of `path` sees the old file or the
/// whole new one. One that was not put in place is removed again. What is there must be a regular file, or a
/// link to one, which stays: a folder, a device or a pipe is an Error.
class ReplacementFile {
 public:
  ReplacementFile(const std::filesystem::path& path, std::string_view tag);
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile();

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Flushes the new file to the disk and gives it the name.
  void put_in_place();

 private:
  int create();

  std::string path_;
  std::string tag_;
  std::string temporary_;
  Descriptor folder_;
  Descriptor file_;
  bool in_place_ = false;
};

/// A whole new file with this text, as ReplacementFile writes it.
void replace_file(const std::filesystem::path& path, std::string_view text, std::string_view tag);

/// Adds text at the end of a file, which is made if it is not there. All or nothing: where the disk takes
/// only a part, that part is cut off again.
void append_to_file(const std::filesystem::path& path, std::string_view text, std::string_view tag);

/// Waits until what was written to a file is on the disk.
void flush_file(const std::filesystem::path& path, std::string_view tag);

/// Whether a file of this name is one that a ReplacementFile did not live to put in place.
bool is_abandoned_replacement(const std::filesystem::path& path);

}  // namespace tapehead
