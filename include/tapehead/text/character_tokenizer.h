/// One token a character: the code points of a text, numbered in their order.
///
/// The same ids as nanoGPT's `sorted(set(text))`. There are no special tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/text/tokenizer.h"
#include "tapehead/text/vocabulary.h"

namespace tapehead {

class CharacterTokenizer final : public Tokenizer {
 public:
  /// The vocabulary of a text. Throws Error for a text that is empty or no valid UTF-8.
  static CharacterTokenizer from_text(std::string_view text);
  /// From `characters.json`. Throws Error, naming file and token, unless the tokens are single characters in
  /// the order of their code points, and as Vocabulary does.
  explicit CharacterTokenizer(const NamedText& file);

  std::string_view bytes_of(std::int32_t id) const override;
  Index size() const override { return static_cast<Index>(characters_.size()); }
  std::optional<std::int32_t> end_of_text() const override { return std::nullopt; }
  /// Writes `characters.json`.
  void save(const std::filesystem::path& folder) const override;

 private:
  explicit CharacterTokenizer(std::vector<char32_t> code_points);
  /// Throws Error for the first character that is not in the vocabulary and for bytes that are no UTF-8,
  /// saying where.
  void append_tokens(std::string_view text, std::vector<std::int32_t>& ids) const override;

  std::vector<char32_t> code_points_;    // ascending
  std::vector<std::string> characters_;  // the same in UTF-8
};

}  // namespace tapehead
