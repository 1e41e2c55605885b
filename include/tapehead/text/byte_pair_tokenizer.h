/// GPT-2's tokenizer: byte-level byte-pair encoding (Radford et al. 2019, section 2.2).
///
/// A text is cut into words (gpt2_split.h), a word is its bytes, and neighbours merge by rank
/// (word_merger.h). Any bytes can be written, and come back as they were.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/text/merges.h"
#include "tapehead/text/tokenizer.h"
#include "tapehead/text/vocabulary.h"

namespace tapehead {

class BytePairTokenizer final : public Tokenizer {
 public:
  /// From the two files of a vocabulary: `vocab.json` or `encoder.json`, and `merges.txt` or `vocab.bpe`.
  /// Each of the 256 bytes must be a token. A token is written in the byte alphabet, unless it is special: it
  /// begins with '<' and ends with '>', like <|endoftext|>, and if it has characters outside the alphabet it
  /// stands for them as they are. Every other token is a byte or made by a merge; no merge may make
  /// <|endoftext|>. Throws Error, naming file and token or line, for anything else, and as Vocabulary and
  /// Merges do.
  BytePairTokenizer(const NamedText& vocabulary, const NamedText& merges)
      : BytePairTokenizer(vocabulary, merges, Vocabulary(vocabulary)) {}

  std::string_view bytes_of(std::int32_t id) const override;
  Index size() const override { return static_cast<Index>(tokens_.size()); }
  std::optional<std::int32_t> end_of_text() const override { return end_of_text_; }
  /// Writes the two files, byte for byte as they were read, as `vocab.json` and `merges.txt`.
  void save(const std::filesystem::path& folder) const override;

 private:
  BytePairTokenizer(const NamedText& vocabulary_file, const NamedText& merges_file, Vocabulary vocabulary);
  void append_tokens(std::string_view text, std::vector<std::int32_t>& ids) const override;

  std::string vocabulary_file_;
  std::string merges_file_;
  std::array<std::int32_t, 256> byte_ids_;
  Merges merges_;
  std::optional<std::int32_t> end_of_text_;
  std::vector<std::string> tokens_;  // the bytes of each, by id
};

}  // namespace tapehead
