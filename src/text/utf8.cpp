#include "tapehead/text/utf8.h"

#include <utility>

namespace tapehead {

namespace {

/// How many bytes a character has, by its first byte, and what the second may be. Zero for no first byte.
struct Form {
  std::size_t length;
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
};

constexpr Form form_of(unsigned char first) {
  if (first < 0x80) return {1};
  if (first < 0xC2) return {0};  // within a character, or overlong
  if (first < 0xE0) return {2};
  if (first == 0xE0) return {3, 0xA0, 0xBF};  // below: overlong
  if (first == 0xED) return {3, 0x80, 0x9F};  // above: surrogates
  if (first < 0xF0) return {3};
  if (first == 0xF0) return {4, 0x90, 0xBF};  // below: overlong
  if (first < 0xF4) return {4};
  if (first == 0xF4) return {4, 0x80, 0x8F};  // above: beyond U+10FFFF
  return {0};
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  using Kind = Utf8Character::Kind;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const Form form = form_of(byte(0));
  if (form.length == 1) return {Kind::whole, 1, byte(0)};
  if (form.length == 0) return {Kind::invalid, 1, kReplacementCharacter};
  // The first byte of n holds 7 - n bits of the code point, each other byte 6.
  char32_t code_point = byte(0) & (0x7Fu >> form.length);
  for (std::size_t i = 1; i < form.length; ++i) {
    if (i == text.size()) return {Kind::unfinished, i, kReplacementCharacter};
    const unsigned char least = i == 1 ? form.second_min : 0x80;
    const unsigned char most = i == 1 ? form.second_max : 0xBF;
    if (byte(i) < least || byte(i) > most) return {Kind::invalid, i, kReplacementCharacter};
    code_point = code_point << 6 | (byte(i) & 0x3Fu);
  }
  return {Kind::whole, form.length, code_point};
}

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Character character = first_character(text.substr(i));
    if (character.kind != Utf8Character::Kind::whole) return i;
    i += character.length;
  }
  return std::string_view::npos;
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const char32_t c = character.code_point;
    if (character.kind != Utf8Character::Kind::whole || c < 0x20 || (c >= 0x7F && c < 0xA0)) return false;
    text.remove_prefix(character.length);
  }
  return true;
}

std::string utf8_of(char32_t code_point) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000))
    code_point = kReplacementCharacter;
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  const auto continued = [&](int shift) { return static_cast<char>(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x800) return {static_cast<char>(0xC0 | code_point >> 6), continued(0)};
  if (code_point < 0x10000) return {static_cast<char>(0xE0 | code_point >> 12), continued(6), continued(0)};
  return {static_cast<char>(0xF0 | code_point >> 18), continued(12), continued(6), continued(0)};
}

std::string Utf8Stream::feed(std::string_view bytes) {
  held_ += bytes;
  std::string printable;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const Utf8Character character = first_character(rest);
    if (character.kind == Utf8Character::Kind::unfinished) break;
    if (character.kind == Utf8Character::Kind::whole)
      printable += rest.substr(0, character.length);
    else
      printable += utf8_of(kReplacementCharacter);
    rest.remove_prefix(character.length);
  }
  held_.erase(0, held_.size() - rest.size());
  return printable;
}

std::string Utf8Stream::flush() {
  return std::exchange(held_, {}).empty() ? std::string() : utf8_of(kReplacementCharacter);
}

}  // namespace tapehead
