/// The safetensors archive: named tensors in one file that other programs read too.
///
/// Writing replaces: a reader of `path` sees the old file or the whole new one, never half of one. Reading
/// trusts nothing in the file and looks at no more of it than was asked for. Every fault is an Error that
/// names the file and, where there is one, the tensor.
///
/// It is not a checkpoint: which names belong in a file, and what the metadata means, is decided elsewhere.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/file.h"
#include "tapehead/base/number.h"
#include "tapehead/tensor/safetensors_header.h"
#include "tapehead/tensor/shape.h"
#include "tapehead/tensor/tensor.h"

namespace tapehead {

/// One tensor to be written: row-major numbers without gaps, which stay the caller's.
struct NamedTensor {
  std::string name;
  Shape shape;
  const Real* data = nullptr;
};

/// Writes the tensors, ordered by name, as F32 (as F64 where Real is double), with a map of metadata.
/// The file is built beside `path`, flushed to the disk and renamed over `path`. Throws Error for two tensors
/// of one name, for text that is not UTF-8, and, with the system's reason, for whatever the file system
/// refuses; then `path` is what it was and nothing else is left behind.
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

/// An open archive. The file must not be shortened or written into while it is open; replacing it is fine.
class SafetensorsFile {
 public:
  /// Throws Error where the file cannot be opened or breaks a rule of the format.
  explicit SafetensorsFile(const std::filesystem::path& path);

  /// What the file holds, by name.
  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  /// The bytes of all tensors, as they lie in the file.
  std::string_view payload() const { return file_.bytes().substr(payload_begin_); }

  /// The tensor of that name: F32, F64, F16 or BF16, rounded to Real. Throws Error for a name that is not
  /// there, another dtype, or more axes than a Shape has.
  Tensor read(std::string_view name) const;

 private:
  const SafetensorsEntry* find(std::string_view name) const;

  std::string path_;
  MappedFile file_;
  std::size_t payload_begin_ = 0;
  SafetensorsHeader header_;
};

}  // namespace tapehead
