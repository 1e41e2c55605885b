#include "tapehead/text/byte_pair_tokenizer.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "tapehead/base/file.h"
#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/text/byte_alphabet.h"
#include "tapehead/text/gpt2_split.h"
#include "tapehead/text/word_merger.h"

namespace tapehead {

namespace {

std::array<std::int32_t, 256> find_bytes(const Vocabulary& vocabulary, const std::string& path) {
  std::array<std::int32_t, 256> ids{};
  for (std::size_t byte = 0; byte < ids.size(); ++byte) {
    const std::string token = written_byte(static_cast<unsigned char>(byte));
    const auto id = vocabulary.find(token);
    require(id.has_value(), "[tokenizer] {}: byte 0x{:02X}, written {}, is missing", path, byte,
            quoted_name(token));
    ids[byte] = *id;
  }
  return ids;
}

/// <|endoftext|> and its like.
bool is_special(std::string_view token) {
  return token.size() > 2 && token.starts_with('<') && token.ends_with('>');
}

/// Throws Error where tokens are neither bytes nor special and no merge makes them: part of the merges is
/// missing.
void require_all_made(const std::vector<std::string>& tokens, const std::array<std::int32_t, 256>& byte_ids,
                      const Merges& merges, const std::string& path) {
  std::vector<bool> made(tokens.size());
  for (const std::int32_t id : byte_ids) made[static_cast<std::size_t>(id)] = true;
  for (std::int32_t rank = 0; rank < merges.size(); ++rank)
    made[static_cast<std::size_t>(merges.product(rank))] = true;
  std::vector<std::size_t> missing;
  for (std::size_t id = 0; id < tokens.size(); ++id)
    if (!made[id] && !is_special(tokens[id])) missing.push_back(id);
  require(missing.empty(),
          "[tokenizer] {}: no merge makes {} of the vocabulary's tokens, {} the first; is it whole?", path,
          missing.size(), missing.empty() ? "" : quoted_name(tokens[missing.front()]));
}

std::string bytes_of_token(const std::string& token, const std::string& path) {
  if (auto bytes = bytes_written(token)) return *std::move(bytes);
  require(is_special(token),
          "[tokenizer] {}: token {} has characters that stand for no byte, and is not special as <...> is",
          path, quoted_name(token));
  return token;
}

/// A word of the text, and where its tokens lie.
struct EncodedWord {
  std::string_view word;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The words of a text that were encoded last: most words come again, and their tokens need only be copied.
/// Each has one slot it can be in, so there is nothing to search and nothing grows.
class EncodedWords {
 public:
  explicit EncodedWords(std::size_t text_size)
      : slots_(std::bit_ceil(std::clamp<std::size_t>(text_size / 32, 1, kMostSlots))) {}
  EncodedWord& slot(std::string_view word) {
    return slots_[std::hash<std::string_view>()(word) & (slots_.size() - 1)];
  }

 private:
  static constexpr std::size_t kMostSlots = std::size_t{1} << 14;
  std::vector<EncodedWord> slots_;
};

}  // namespace

BytePairTokenizer::BytePairTokenizer(const NamedText& vocabulary_file, const NamedText& merges_file,
                                     Vocabulary vocabulary)
    : vocabulary_file_(vocabulary_file.text),
      merges_file_(merges_file.text),
      byte_ids_(find_bytes(vocabulary, vocabulary_file.name)),
      merges_(merges_file, vocabulary),
      end_of_text_(vocabulary.find(kEndOfText)),
      tokens_(std::move(vocabulary).take()) {
  for (std::int32_t rank = 0; rank < merges_.size(); ++rank)
    require(merges_.product(rank) != end_of_text_,
            "[tokenizer] {}: a merge makes {}, which no text may become", merges_file.name, kEndOfText);
  std::vector<std::string> bytes;
  for (const std::string& token : tokens_) bytes.push_back(bytes_of_token(token, vocabulary_file.name));
  require_all_made(tokens_, byte_ids_, merges_, merges_file.name);
  tokens_ = std::move(bytes);
}

std::string_view BytePairTokenizer::bytes_of(std::int32_t id) const {
  require(id >= 0 && id < size(), "[tokenizer] expected a token id from 0 to {}, got {}", size() - 1, id);
  return tokens_[static_cast<std::size_t>(id)];
}

void BytePairTokenizer::save(const std::filesystem::path& folder) const {
  replace_file(folder / "vocab.json", vocabulary_file_, "tokenizer");
  replace_file(folder / "merges.txt", merges_file_, "tokenizer");
}

void BytePairTokenizer::append_tokens(std::string_view text, std::vector<std::int32_t>& ids) const {
  WordMerger merger(merges_, byte_ids_);
  EncodedWords encoded(text.size());
  while (!text.empty()) {
    const std::string_view word = first_word(text);
    text.remove_prefix(word.size());
    const std::size_t begin = ids.size();
    EncodedWord& before = encoded.slot(word);
    if (before.word == word)
      for (std::size_t i = before.begin; i < before.end; ++i) ids.push_back(ids[i]);
    else
      merger.encode(word, ids);
    before = {word, begin, ids.size()};
  }
}

}  // namespace tapehead
