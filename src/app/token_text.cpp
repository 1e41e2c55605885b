#include "tapehead/app/token_text.h"

#include <charconv>

#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/text/display.h"

namespace tapehead::app {

TokenText::TokenText(const RunDirectory& run)
    : run_(run.path().string()), model_vocabulary_(run.config().model.vocabulary) {
  if (!is_tokenizer_folder(run.tokenizer_folder())) return;
  tokenizer_ = load_tokenizer(run.tokenizer_folder());
  require(tokenizer_->size() <= model_vocabulary_, "{}: its {} tokens are more than the model's {}",
          run.tokenizer_folder().string(), tokenizer_->size(), model_vocabulary_);
}

std::vector<std::int32_t> TokenText::tokens(const std::string& written, Specials specials) const {
  if (tokenizer_ == nullptr) return numbers(written);
  try {
    return tokenizer_->encode(written, specials);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

std::vector<std::int32_t> TokenText::numbers(const std::string& written) const {
  std::vector<std::int32_t> ids;
  const char* at = written.data();
  const char* const end = at + written.size();
  while (at != end) {
    if (*at == ' ' || *at == ',' || *at == '\n') {
      ++at;
      continue;
    }
    std::int32_t id = 0;
    const auto [rest, error] = std::from_chars(at, end, id);
    if (error != std::errc() || id < 0 || id >= model_vocabulary_)
      throw UsageError(
          fmt::format("{} has no tokenizer: expected token ids from 0 to {} with blanks between, got {}",
                      run_, model_vocabulary_ - 1, quoted_name(std::string(at, end))));
    ids.push_back(id);
    at = rest;
  }
  return ids;
}

std::string TokenText::label(std::int32_t id) const {
  if (tokenizer_ == nullptr || id >= tokenizer_->size()) return std::to_string(id);
  std::string_view bytes = tokenizer_->bytes_of(id);
  std::string text;
  for (std::size_t length = 0; !bytes.empty(); bytes.remove_prefix(length)) {
    const Utf8Character character = first_character(bytes);
    length = character.length;
    const std::string_view piece = bytes.substr(0, length);
    if (piece == "\"" || piece == "\\")
      text += fmt::format("\\{}", piece);
    else if (piece == "\n")
      text += "\\n";
    else if (character.kind == Utf8Character::Kind::whole && is_shown(character.code_point))
      text += piece;
    else
      for (const char byte : piece) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return '"' + text + '"';
}

std::string TokenText::print(std::int32_t id) {
  if (tokenizer_ != nullptr) return stream_.feed(tokenizer_->bytes_of(id));
  return (std::exchange(is_first_, false) ? "" : " ") + std::to_string(id);
}

Index TokenText::vocabulary() const { return tokenizer_ == nullptr ? model_vocabulary_ : tokenizer_->size(); }

std::optional<std::int32_t> TokenText::end_of_text() const {
  return tokenizer_ == nullptr ? std::nullopt : tokenizer_->end_of_text();
}

}  // namespace tapehead::app
