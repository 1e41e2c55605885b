/// The file that lists a vocabulary: one JSON object, each token with its id.
///
/// A token is any text here; what its characters stand for is decided by the tokenizer. Reading trusts
/// nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead {

/// What is in a file, and the name that errors give it.
struct NamedText {
  std::string name;
  std::string text;
};

class Vocabulary {
 public:
  /// Throws Error unless the file is one JSON object of whole numbers, its tokens are not empty and all
  /// different, and the ids of n tokens are 0, ..., n - 1. The Error names file and token, or byte.
  explicit Vocabulary(const NamedText& file);

  Index size() const { return static_cast<Index>(tokens_.size()); }
  /// The token of an id below size().
  const std::string& operator[](std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
  std::optional<std::int32_t> find(std::string_view token) const;
  /// The tokens by id; leaves nothing behind.
  std::vector<std::string> take() && { return std::move(tokens_); }

 private:
  std::vector<std::string> tokens_;
  std::vector<std::int32_t> by_text_;  // the ids in the order of their tokens
};

/// The text of such a file: a line a token, by id. The tokens are valid UTF-8.
std::string format_vocabulary(std::span<const std::string> tokens);

}  // namespace tapehead
