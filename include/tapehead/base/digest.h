/// A number that tells data from other data: FNV-1a with 32-bit words in 64 bits (Fowler, Noll and Vo 1991).
///
/// Every change of one word changes it. It is no protection against somebody who means to deceive.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tapehead {

class Digest {
 public:
  void add(std::uint32_t word) { state_ = (state_ ^ word) * 0x100000001b3; }
  /// The bytes as words, the last filled up with zeros, and their number.
  void add(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint32_t)) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes.data() + i, bytes.size() - i < sizeof(word) ? bytes.size() - i : sizeof(word));
      add(word);
    }
    add(static_cast<std::uint32_t>(bytes.size()));
  }
  /// Sixteen hexadecimal digits.
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace tapehead
