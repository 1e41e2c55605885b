#include "tapehead/text/gpt2_split.h"

#include <unicode/uchar.h>

#include <array>
#include <cstddef>

#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

enum class Class : unsigned char { letter, number, blank, other };

Class class_of(char32_t code_point) {
  const auto c = static_cast<UChar32>(code_point);
  const std::uint32_t category = U_GET_GC_MASK(c);
  if (category & U_GC_L_MASK) return Class::letter;
  if (category & U_GC_N_MASK) return Class::number;
  return u_isUWhiteSpace(c) ? Class::blank : Class::other;
}

std::array<Class, 128> ascii_classes() {
  std::array<Class, 128> classes{};
  for (std::size_t c = 0; c < classes.size(); ++c) classes[c] = class_of(static_cast<char32_t>(c));
  return classes;
}

struct Character {
  Class kind;
  std::size_t length;
};

/// The character at `at`.
Character character_at(std::string_view text, std::size_t at) {
  static const std::array<Class, 128> ascii = ascii_classes();
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < ascii.size()) return {ascii[byte], 1};
  const Utf8Character character = first_character(text.substr(at));
  if (character.kind != Utf8Character::Kind::whole) return {Class::other, character.length};
  return {class_of(character.code_point), character.length};
}

constexpr std::array<std::string_view, 7> kContractions{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

/// A run of blanks: all of it at the end of the text, otherwise all but the last, which begins the next word;
/// the last alone where it is the only one.
std::size_t length_of_blanks(std::string_view text) {
  std::size_t end = 0;
  std::size_t last = 0;
  while (end < text.size()) {
    const Character character = character_at(text, end);
    if (character.kind != Class::blank) return last > 0 ? last : end;
    last = end;
    end += character.length;
  }
  return end;
}

/// The end of the run of one class that begins at `begin`.
std::size_t end_of_run(std::string_view text, std::size_t begin, Class kind) {
  std::size_t end = begin;
  while (end < text.size()) {
    const Character character = character_at(text, end);
    if (character.kind != kind) break;
    end += character.length;
  }
  return end;
}

}  // namespace

std::string_view first_word(std::string_view text) {
  for (const std::string_view contraction : kContractions)
    if (text.starts_with(contraction)) return text.substr(0, contraction.size());
  // Only the space itself, no other blank, joins the word after it.
  const std::size_t begin = text.front() == ' ' && text.size() > 1 ? 1 : 0;
  const Class kind = character_at(text, begin).kind;
  return text.substr(0, kind == Class::blank ? length_of_blanks(text) : end_of_run(text, begin, kind));
}

}  // namespace tapehead
