#include "tapehead/text/tokenizer.h"

#include <initializer_list>
#include <system_error>

#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/text/byte_pair_tokenizer.h"
#include "tapehead/text/character_tokenizer.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

/// The first of these names that the folder has, or an empty path.
fs::path first_of(const fs::path& folder, std::initializer_list<const char*> names) {
  std::error_code refusal;
  for (const char* name : names)
    if (fs::exists(folder / name, refusal)) return folder / name;
  return {};
}

/// What a folder has of the files of a tokenizer; empty where it has none.
struct TokenizerFiles {
  explicit TokenizerFiles(const fs::path& folder)
      : vocabulary(first_of(folder, {"vocab.json", "encoder.json"})),
        merges(first_of(folder, {"merges.txt", "vocab.bpe"})),
        characters(first_of(folder, {"characters.json"})) {}

  bool byte_pairs() const { return !vocabulary.empty() && !merges.empty(); }

  fs::path vocabulary;
  fs::path merges;
  fs::path characters;
};

NamedText read(const fs::path& path) {
  return {path.string(), std::string(MappedFile(path, "tokenizer").bytes())};
}

}  // namespace

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, Specials specials) const {
  std::vector<std::int32_t> ids;
  if (specials == Specials::recognised && end_of_text())
    for (std::size_t at; (at = text.find(kEndOfText)) != text.npos;
         text.remove_prefix(at + kEndOfText.size())) {
      append_tokens(text.substr(0, at), ids);
      ids.push_back(*end_of_text());
    }
  append_tokens(text, ids);
  return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string bytes;
  for (const std::int32_t id : ids) bytes += bytes_of(id);
  return bytes;
}

bool is_tokenizer_folder(const fs::path& folder) {
  const TokenizerFiles files(folder);
  return files.byte_pairs() || !files.characters.empty();
}

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& folder) {
  const TokenizerFiles files(folder);
  require(!files.byte_pairs() || files.characters.empty(),
          "[tokenizer] {} holds two tokenizers: byte-pair encoding in {}, characters in {}", folder.string(),
          files.vocabulary.filename().string(), files.characters.filename().string());
  if (files.byte_pairs())
    return std::make_unique<BytePairTokenizer>(read(files.vocabulary), read(files.merges));
  if (!files.characters.empty()) return std::make_unique<CharacterTokenizer>(read(files.characters));
  const auto state = [](const fs::path& file) { return file.empty() ? "not there" : "there"; };
  throw Error(fmt::format(
      "[tokenizer] {} holds no tokenizer: expected vocab.json or encoder.json ({}) with merges.txt "
      "or vocab.bpe ({}), or characters.json (not there)",
      folder.string(), state(files.vocabulary), state(files.merges)));
}

}  // namespace tapehead
