/// The JSON header of a safetensors archive, as text: what it may say, and the rules it must keep.
///
/// A header names every tensor's dtype, shape and range of payload bytes. The rules are those of the
/// format's reference reader, and those of JSON it leaves open (no duplicate keys). Files are opened and
/// tensors read in `tensor/safetensors.h`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead {

/// The longest header that is read or written, in bytes.
inline constexpr Index kMaxSafetensorsHeader = 100'000'000;

/// One tensor of an archive; its bytes are begin, ..., end - 1 of the payload.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  std::vector<Index> shape;
  Index begin = 0;
  Index end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< by name
  std::map<std::string, std::string> metadata;
};

/// Reads the header `text` of the file `path` (named in errors) whose payload has `payload_bytes` bytes.
/// Throws Error unless it is one JSON object of the right form without duplicate keys, every dtype is known,
/// every range fits its tensor's shape and dtype, and the ranges, in some order, tile the payload.
SafetensorsHeader parse_safetensors_header(std::string_view text, Index payload_bytes,
                                           const std::string& path);

/// The text of a header, entries in the order given, padded with spaces to a multiple of 8 bytes.
/// Throws Error for the reserved name `__metadata__`, for text that is not UTF-8, and for a header that is
/// too long.
std::string format_safetensors_header(const SafetensorsHeader& header, const std::string& path);

}  // namespace tapehead
