#include "tapehead/tensor/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian, and so are its copies here");

constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kTag = "safetensors";

/// Converts elements from wherever they lie, aligned or not.
template <class Stored, class Convert>
void convert(std::span<Real> to, const char* from, Convert from_stored) {
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

  ReplacementFile replacement(path, kTag);
  replacement.write(&length, kLengthBytes);
  replacement.write(text);
  for (const NamedTensor* tensor : by_name)
    replacement.write(tensor->data, static_cast<std::size_t>(tensor->shape.count()) * sizeof(Real));
  replacement.put_in_place();
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path.string()), file_(path, kTag) {
  const std::string_view bytes = file_.bytes();
  require(bytes.size() >= kLengthBytes,
          "[safetensors] {}: expected at least the {} bytes of the header's length, got {}", path_,
          kLengthBytes, bytes.size());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const std::size_t rest = bytes.size() - kLengthBytes;
  require(length <= static_cast<std::uint64_t>(kMaxSafetensorsHeader),
          "[safetensors] {}: expected a header of at most {} bytes, got a length of {}", path_,
          kMaxSafetensorsHeader, length);
  require(length <= rest,
          "[safetensors] {}: the header's {} bytes run past the end of the file, which has {} more", path_,
          length, rest);
  payload_begin_ = kLengthBytes + static_cast<std::size_t>(length);
  header_ = parse_safetensors_header(bytes.substr(kLengthBytes, static_cast<std::size_t>(length)),
                                     static_cast<Index>(rest - length), path_);
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
  const char* from = file_.bytes().data() + payload_begin_ + entry->begin;
  const auto as_is = [](auto value) { return value; };
  if (dtype == "F32") convert<float>(tensor.values(), from, as_is);
  if (dtype == "F64") convert<double>(tensor.values(), from, as_is);
  if (dtype == "F16") convert<std::uint16_t>(tensor.values(), from, from_f16);
  if (dtype == "BF16") convert<std::uint16_t>(tensor.values(), from, from_bf16);
  return tensor;
}

}  // namespace tapehead
