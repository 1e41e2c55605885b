/// Any file is an archive or is refused. An archive's tensors are read or refused one by one, and its header
/// is the same after it was written and read again.
#include "tapehead/tensor/safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>

#include "fuzz/target.h"

namespace tapehead {

namespace {

/// The path of a file with these bytes, which is in memory and the only one.
std::string file_of(std::string_view bytes) {
  static const Descriptor file(::memfd_create("archive", MFD_CLOEXEC));
  ensure(::ftruncate(file.get(), 0) == 0 &&
             ::pwrite(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
         "[fuzz] no file in memory can be written");
  return fmt::format("/proc/self/fd/{}", file.get());
}

std::optional<SafetensorsFile> open(const std::string& path) {
  try {
    return SafetensorsFile(path);
  } catch (const Error& error) {
    const std::size_t length = std::string_view(error.what()).size();
    ensure(length < 2000, "[fuzz] expected a message that can be read, got {} bytes", length);
    return std::nullopt;
  }
}

void read(const SafetensorsFile& archive, const SafetensorsEntry& entry) {
  try {
    const Tensor tensor = archive.read(entry.name);
    ensure(std::ranges::equal(tensor.shape().sizes(), entry.shape), "[fuzz] {} was read in another shape",
           entry.name);
  } catch (const Error&) {
    // Of a dtype or with axes that no Tensor has.
  }
}

bool same(const SafetensorsEntry& a, const SafetensorsEntry& b) {
  return std::tie(a.name, a.dtype, a.shape, a.begin, a.end) ==
         std::tie(b.name, b.dtype, b.shape, b.begin, b.end);
}

void write_and_read_again(const SafetensorsHeader& header, Index payload_bytes) {
  const SafetensorsHeader again =
      parse_safetensors_header(format_safetensors_header(header, "again"), payload_bytes, "again");
  ensure(std::ranges::equal(again.entries, header.entries, same) && again.metadata == header.metadata,
         "[fuzz] a header changed when it was written and read again");
}

void take_safetensors(std::string_view bytes) {
  const std::optional<SafetensorsFile> archive = open(file_of(bytes));
  if (!archive) return;
  Index payload_bytes = 0;
  for (const SafetensorsEntry& entry : archive->entries()) {
    read(*archive, entry);
    payload_bytes += entry.end - entry.begin;
  }
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), sizeof(header_bytes));
  ensure(sizeof(header_bytes) + header_bytes + static_cast<std::uint64_t>(payload_bytes) == bytes.size(),
         "[fuzz] some bytes of the file belong to nothing or to two");
  write_and_read_again({.entries = archive->entries(), .metadata = archive->metadata()}, payload_bytes);
}

}  // namespace

FUZZ_TARGET(safetensors, 20, take_safetensors)

}  // namespace tapehead
