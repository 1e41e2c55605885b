/// Between text and token ids: what every tokenizer does, and which one a folder holds.
///
/// A tokenizer does not change once it is made; every call here may be made from several threads at once. How
/// text becomes batches is the tasks' business.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead {

/// How the end of a text is written, for the vocabularies that have a token for it.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

/// Whether kEndOfText within a text is the token of that name, or thirteen characters like any others. Text
/// from outside is no place for tokens. Where the vocabulary has no such token it is text either way.
enum class Specials { as_text, recognised };

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The text's tokens. Throws Error for a text that the vocabulary cannot write.
  std::vector<std::int32_t> encode(std::string_view text, Specials specials = Specials::as_text) const;
  /// The bytes of all these tokens; not always valid UTF-8 (see Utf8Stream). Throws as bytes_of does.
  std::string decode(std::span<const std::int32_t> ids) const;

  /// The bytes of one token. Throws Error unless the id is one of 0, ..., size() - 1.
  virtual std::string_view bytes_of(std::int32_t id) const = 0;
  /// The number of tokens.
  virtual Index size() const = 0;
  /// The id of kEndOfText, where the vocabulary has it.
  virtual std::optional<std::int32_t> end_of_text() const = 0;
  /// Writes files of which load_tokenizer makes an equal tokenizer. Throws Error if the disk refuses.
  virtual void save(const std::filesystem::path& folder) const = 0;

 private:
  /// Adds the tokens of a text without specials at the end of `ids`.
  virtual void append_tokens(std::string_view text, std::vector<std::int32_t>& ids) const = 0;
};

/// Whether there are the files of a tokenizer: `vocab.json` (or `encoder.json`) with `merges.txt` (or
/// `vocab.bpe`), which is byte-pair encoding, or `characters.json`, a character vocabulary.
bool is_tokenizer_folder(const std::filesystem::path& folder);

/// The tokenizer of a folder. Throws Error where there is none, or both kinds, and for whatever is wrong in
/// the files.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

}  // namespace tapehead
