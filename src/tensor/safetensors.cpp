#include "tapehead/tensor/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian, and so are its copies here");

constexpr std::size_t kLengthBytes = 8;

[[noreturn]] void fail(const char* action, const std::string& path, int code) {
  throw Error(
      fmt::format("[safetensors] cannot {} {}: {}", action, path, std::generic_category().message(code)));
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }

 private:
  int value_;
};

/// A new file beside `target`, gone again unless it has taken the target's place.
class Replacement {
 public:
  explicit Replacement(const std::filesystem::path& target)
      : target_(target.string()),
        folder_(::open(target.has_parent_path() ? target.parent_path().c_str() : ".",
                       O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        file_(folder_.get() < 0 ? -1 : create()) {
    if (file_.get() < 0) fail("write", target_, errno);
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (file_.get() >= 0 && !in_place_) ::unlink(temporary_.c_str());
  }

  void write(const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(file_.get(), from, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write", target_, errno);
      from += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  void put_in_place() {
    if (::fsync(file_.get()) != 0) fail("write", target_, errno);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("write", target_, errno);
    in_place_ = true;
    // The new name itself must reach the disk. Some file systems cannot flush a folder and answer EINVAL.
    if (::fsync(folder_.get()) != 0 && errno != EINVAL) fail("flush the folder of", target_, errno);
  }

 private:
  int create() {
    static std::atomic<unsigned> count{0};
    for (;;) {
      temporary_ = fmt::format("{}.tmp-{}-{}", target_, ::getpid(), count++);
      const int file = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file >= 0 || errno != EEXIST) return file;
    }
  }

  std::string target_;
  std::string temporary_;
  Descriptor folder_;
  Descriptor file_;
  bool in_place_ = false;
};

/// Converts elements from wherever they lie, aligned or not.
template <class Stored, class Convert>
void convert(std::span<Real> to, const std::byte* from, Convert from_stored) {
  for (Real& value : to) {
    Stored stored;
    std::memcpy(&stored, from, sizeof(Stored));
    value = static_cast<Real>(from_stored(stored));
    from += sizeof(Stored);
  }
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

/// IEEE 754 binary16: 1 sign bit, 5 of exponent, 10 of fraction.
float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  // The exponent's bias grows from 15 to 127; all ones stay all ones, for infinity and NaN.
  const std::uint32_t wide = exponent == 0x1f ? 0xff : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string file = path.string();
  std::vector<const NamedTensor*> by_name;
  for (const NamedTensor& tensor : tensors) by_name.push_back(&tensor);
  std::sort(by_name.begin(), by_name.end(), [](const auto* a, const auto* b) { return a->name < b->name; });

  SafetensorsHeader header{.entries = {}, .metadata = metadata};
  Index reached = 0;
  for (const NamedTensor* tensor : by_name) {
    require(header.entries.empty() || header.entries.back().name != tensor->name,
            "[safetensors] {}: two tensors are named {}", file, quoted_name(tensor->name));
    require(tensor->data != nullptr || tensor->shape.count() == 0, "[safetensors] {}: tensor {} has no data",
            file, quoted_name(tensor->name));
    const auto sizes = tensor->shape.sizes();
    const Index end = reached + tensor->shape.count() * static_cast<Index>(sizeof(Real));
    header.entries.push_back({.name = tensor->name,
                              .dtype = sizeof(Real) == 8 ? "F64" : "F32",
                              .shape = {sizes.begin(), sizes.end()},
                              .begin = reached,
                              .end = end});
    reached = end;
  }
  const std::string text = format_safetensors_header(header, file);
  const std::uint64_t length = text.size();

  Replacement replacement(path);
  replacement.write(&length, kLengthBytes);
  replacement.write(text.data(), text.size());
  for (const NamedTensor* tensor : by_name)
    replacement.write(tensor->data, static_cast<std::size_t>(tensor->shape.count()) * sizeof(Real));
  replacement.put_in_place();
}

void SafetensorsFile::Unmap::operator()(const std::byte* address) const noexcept {
  ::munmap(const_cast<std::byte*>(address), bytes);
}

SafetensorsFile::Mapping SafetensorsFile::map(const std::string& path) {
  // Opening a named pipe would wait for a writer without O_NONBLOCK.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) fail("read", path, errno);
  require(S_ISREG(status.st_mode), "[safetensors] cannot read {}: it is not a regular file", path);
  const std::size_t bytes = static_cast<std::size_t>(status.st_size);
  require(bytes >= kLengthBytes,
          "[safetensors] {}: expected at least the {} bytes of the header's length, got {}", path,
          kLengthBytes, bytes);
  void* address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail("read", path, errno);
  return Mapping(static_cast<const std::byte*>(address), Unmap{bytes});
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path.string()), bytes_(map(path_)) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes_.get(), kLengthBytes);
  const std::size_t rest = bytes_.get_deleter().bytes - kLengthBytes;
  require(length <= static_cast<std::uint64_t>(kMaxSafetensorsHeader),
          "[safetensors] {}: expected a header of at most {} bytes, got a length of {}", path_,
          kMaxSafetensorsHeader, length);
  require(length <= rest,
          "[safetensors] {}: the header's {} bytes run past the end of the file, which has {} more", path_,
          length, rest);
  payload_begin_ = kLengthBytes + static_cast<std::size_t>(length);
  const std::string_view text(reinterpret_cast<const char*>(bytes_.get()) + kLengthBytes,
                              static_cast<std::size_t>(length));
  header_ = parse_safetensors_header(text, static_cast<Index>(rest - length), path_);
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found =
      std::lower_bound(entries().begin(), entries().end(), name,
                       [](const SafetensorsEntry& entry, std::string_view n) { return entry.name < n; });
  return found != entries().end() && found->name == name ? &*found : nullptr;
}

Tensor SafetensorsFile::read(std::string_view name) const {
  const SafetensorsEntry* entry = find(name);
  require(entry != nullptr, "[safetensors] {}: there is no tensor {} among its {}", path_, quoted_name(name),
          entries().size());
  require(entry->shape.size() <= Shape::kMaxRank,
          "[safetensors] {}: tensor {} has {} axes, more than the {} of a Shape", path_, quoted_name(name),
          entry->shape.size(), Shape::kMaxRank);
  const std::string& dtype = entry->dtype;
  require(dtype == "F32" || dtype == "F64" || dtype == "F16" || dtype == "BF16",
          "[safetensors] {}: tensor {}: expected dtype F32, F64, F16 or BF16, got {}", path_,
          quoted_name(name), dtype);

  Tensor tensor = Tensor::uninitialised(Shape(entry->shape));
  const std::byte* from = bytes_.get() + payload_begin_ + entry->begin;
  const auto as_is = [](auto value) { return value; };
  if (dtype == "F32") convert<float>(tensor.values(), from, as_is);
  if (dtype == "F64") convert<double>(tensor.values(), from, as_is);
  if (dtype == "F16") convert<std::uint16_t>(tensor.values(), from, from_f16);
  if (dtype == "BF16") convert<std::uint16_t>(tensor.values(), from, from_bf16);
  return tensor;
}

}  // namespace tapehead
