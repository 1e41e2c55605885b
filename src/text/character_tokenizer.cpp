#include "tapehead/text/character_tokenizer.h"

#include <algorithm>
#include <utility>

#include "tapehead/base/file.h"
#include "tapehead/base/quoted_name.h"
#include "tapehead/base/require.h"
#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

[[noreturn]] void refuse(std::string_view text, std::size_t at, const std::string& fault) {
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  throw Error(fmt::format("[tokenizer] {}, at byte {} of the text, in line {}", fault, at, line));
}

Utf8Character character_at(std::string_view text, std::size_t at) {
  const Utf8Character character = first_character(text.substr(at));
  if (character.kind != Utf8Character::Kind::whole)
    refuse(text, at, fmt::format("byte 0x{:02X} is not valid UTF-8", static_cast<unsigned char>(text[at])));
  return character;
}

std::vector<char32_t> code_points_in(std::string_view text) {
  std::vector<bool> is_there(0x110000);
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = character_at(text, at);
    is_there[character.code_point] = true;
    at += character.length;
  }
  std::vector<char32_t> code_points;
  for (char32_t c = 0; c < is_there.size(); ++c)
    if (is_there[c]) code_points.push_back(c);
  return code_points;
}

std::vector<char32_t> code_points_of(const NamedText& file) {
  std::vector<char32_t> code_points;
  for (const std::string& token : Vocabulary(file).take()) {
    const Utf8Character character = first_character(token);
    require(character.length == token.size(), "[tokenizer] {}: expected single characters, got {}", file.name,
            quoted_name(token));
    require(code_points.empty() || code_points.back() < character.code_point,
            "[tokenizer] {}: expected ids in the order of code points, but id {} is {}", file.name,
            code_points.size(), quoted_name(token));
    code_points.push_back(character.code_point);
  }
  return code_points;
}

}  // namespace

CharacterTokenizer CharacterTokenizer::from_text(std::string_view text) {
  return CharacterTokenizer(code_points_in(text));
}

CharacterTokenizer::CharacterTokenizer(const NamedText& file) : CharacterTokenizer(code_points_of(file)) {}

CharacterTokenizer::CharacterTokenizer(std::vector<char32_t> code_points)
    : code_points_(std::move(code_points)) {
  require(!code_points_.empty(), "[tokenizer] a vocabulary needs at least one character");
  for (const char32_t c : code_points_) characters_.push_back(utf8_of(c));
}

std::string_view CharacterTokenizer::bytes_of(std::int32_t id) const {
  require(id >= 0 && id < size(), "[tokenizer] expected a token id from 0 to {}, got {}", size() - 1, id);
  return characters_[static_cast<std::size_t>(id)];
}

void CharacterTokenizer::save(const std::filesystem::path& folder) const {
  replace_file(folder / "characters.json", format_vocabulary(characters_), "tokenizer");
}

void CharacterTokenizer::append_tokens(std::string_view text, std::vector<std::int32_t>& ids) const {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = character_at(text, at);
    const auto found = std::lower_bound(code_points_.begin(), code_points_.end(), character.code_point);
    if (found == code_points_.end() || *found != character.code_point)
      refuse(text, at,
             fmt::format("{} (U+{:04X}) is not among the {} characters of the vocabulary",
                         quoted_name(text.substr(at, character.length)),
                         static_cast<std::uint32_t>(character.code_point), size()));
    ids.push_back(static_cast<std::int32_t>(found - code_points_.begin()));
    at += character.length;
  }
}

}  // namespace tapehead
